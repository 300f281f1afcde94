/* Sorts tables, hides methods, searches classes and reads values. The page is complete without it. */
(function () {
'use strict';
function all(what, where) { return Array.from((where || document).querySelectorAll(what)); }
function make(tag, name, text) {
  var element = document.createElement(tag);
  element.className = name;
  element.textContent = text || '';
  return element;
}
function button(name, children) {
  var element = make('button', name);
  element.type = 'button';
  children.forEach(function (child) { element.appendChild(child); });
  return element;
}

/* Tables: a click on a heading sorts. */
function keyOf(row, i) {
  var value = row.cells[i].getAttribute('data-v');
  return value === null ? row.cells[i].textContent.trim() : value === '' ? null : +value;
}
function order(a, b) { return typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b)); }
all('table.sort').forEach(function (table) {
  var body = table.tBodies[0], heads = Array.from(table.tHead.rows[table.tHead.rows.length - 1].cells);
  heads.forEach(function (head, i) {
    var press = button('', Array.from(head.childNodes));
    head.appendChild(press);
    press.addEventListener('click', function () {
      var was = head.getAttribute('aria-sort'), up = was ? was === 'descending' : head.classList.contains('text');
      heads.forEach(function (other) { other.removeAttribute('aria-sort'); });
      head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      Array.from(body.rows).sort(function (a, b) {
        var x = keyOf(a, i), y = keyOf(b, i);
        return x === null || y === null ? (x === null) - (y === null) : up ? order(x, y) : order(y, x);
      }).forEach(function (row) { body.appendChild(row); });
    });
  });
});

/* What is stacked moves up into the room of what is hidden; what has slots takes the first ones. */
function shorten(svg, less) {
  svg.dataset.box = svg.dataset.box || svg.getAttribute('viewBox');
  var size = svg.dataset.box.split(' ').map(Number);
  svg.setAttribute('viewBox', [size[0], size[1], size[2], size[3] - less].join(' '));
}
var stacks = new Set(all('[data-high]').map(function (part) { return part.parentNode; }));
var slots = new Set(all('[data-slot]').map(function (part) { return part.parentNode; }));
function gone(part) { return part.matches('.off,.out'); }
function restack() {
  stacks.forEach(function (box) {
    var up = 0, begun = false;
    Array.from(box.children).forEach(function (part) {
      begun = begun || part.dataset.high !== undefined;
      if (begun && gone(part)) up += +(part.dataset.high || 0);
      else if (begun) part.setAttribute('transform', 'translate(0 ' + -up + ')');
    });
    shorten(box.closest('svg'), up);
  });
  slots.forEach(function (box) {
    var parts = all('[data-slot]', box), next = 0;
    parts.forEach(function (part) {
      if (!gone(part)) part.setAttribute('transform', 'translate(' + parts[next++].dataset.slot + ')');
    });
    function top(part) { return +part.dataset.slot.split(' ')[1]; }
    shorten(box.closest('svg'), top(parts[parts.length - 1]) - top(parts[Math.max(0, next - 1)]));
  });
}

/* Methods: a click on one hides it everywhere, another shows it again. */
var hidden = new Set(), tip = make('div', 'tip'), news = make('span', 'skip');
news.setAttribute('role', 'status');
tip.setAttribute('role', 'status');
tip.hidden = true;
function toggle(mark) {
  if (!hidden.delete(mark)) hidden.add(mark);
  all('[data-m]').forEach(function (part) { part.classList.toggle('off', hidden.has(part.dataset.m)); });
  all('[data-toggle]').forEach(function (press) { press.setAttribute('aria-pressed', !hidden.has(press.dataset.toggle)); });
  news.textContent = mark + (hidden.has(mark) ? ' is hidden' : ' is shown');
  tip.hidden = true;
  restack();
}
function chip(mark, children) {
  var press = button('chip', children);
  press.dataset.toggle = mark;
  press.setAttribute('aria-pressed', 'true');
  press.title = 'hide or show ' + mark;
  press.addEventListener('click', function () { toggle(mark); });
  return press;
}
all('li[data-legend]').forEach(function (item) { item.appendChild(chip(item.dataset.legend, Array.from(item.childNodes))); });
all('svg [data-m] .name').forEach(function (name) {
  name.addEventListener('click', function () { toggle(name.closest('[data-m]').dataset.m); });
});

/* Classes: the search hides rows and dims bars. */
function search(text, count) {
  var hits = new Set(), names = new Set();
  all('[data-c]').forEach(function (part) {
    var name = part.dataset.c, hit = name.toLowerCase().indexOf(text) >= 0;
    part.classList.toggle(part.tagName === 'TR' || part.tagName === 'LI' || part.dataset.high ? 'out' : 'dim', !hit);
    if (part.tagName !== 'TR') return;
    names.add(name);
    if (hit) hits.add(name);
  });
  all('details').forEach(function (box) { if (text && box.querySelector('[data-c]')) box.open = true; });
  count.textContent = text ? hits.size + ' of ' + names.size : '';
  restack();
}

var main = document.querySelector('main'), first = main.querySelector('h2[id]');
var tools = make('div', 'tools'), marks = new Map();
all('tr[data-m]').forEach(function (row) { if (!marks.has(row.dataset.m)) marks.set(row.dataset.m, row.cells[0]); });
tools.setAttribute('role', 'group');
tools.setAttribute('aria-label', 'What the page shows');
if (marks.size > 1) marks.forEach(function (cell, mark) {
  tools.appendChild(chip(mark, [cell.querySelector('.key').cloneNode(true), document.createTextNode(mark)]));
});
if (document.querySelector('[data-c]')) {
  var label = make('label', '', 'Find a class '), find = make('input', ''), count = make('output', '');
  find.type = 'search';
  find.addEventListener('input', function () { search(find.value.trim().toLowerCase(), count); });
  label.appendChild(find);
  count.setAttribute('role', 'status');
  tools.appendChild(label);
  tools.appendChild(count);
}
if (first) main.insertBefore(tools, first);
document.body.appendChild(news);
document.body.appendChild(tip);

/* Values: under the pointer, or where the arrow keys are in a figure that has the focus. */
function say(text, x, y) {
  tip.textContent = text;
  tip.hidden = false;
  tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 8)) + 'px';
  tip.style.top = (y + 18 + tip.offsetHeight > innerHeight ? Math.max(4, y - tip.offsetHeight - 10) : y + 18) + 'px';
}
function quiet(svg) {
  tip.hidden = true;
  all('.guide', svg).forEach(function (guide) { guide.remove(); });
  all('.at', svg).forEach(function (mark) { mark.classList.remove('at'); });
}
function text(mark) {
  var owner = mark.closest('[data-m]'), name = owner ? owner.dataset.m : '', said = mark.dataset.t;
  return name && said.indexOf(name) < 0 ? name + ', ' + said : said;
}
function number(x) { return Math.abs(x) >= 1000 ? Math.round(x).toLocaleString('en') : String(x); }

/* A chart with a field: the values of all lines at the nearest x. */
function chartOf(svg) {
  var field = svg.querySelector('.field');
  if (!field) return null;
  var range = field.dataset.x.split(' ').map(Number), box = field.getBBox();
  return { field: field, low: range[0], high: range[1], left: box.x, width: box.width, top: box.y, height: box.height };
}
function seriesOf(svg) {
  return all('g[data-p]', svg).filter(function (line) { return !line.closest('.off'); }).map(function (line) {
    var numbers = line.dataset.p.trim().split(' ').map(Number), points = [];
    for (var i = 0; i + 1 < numbers.length; i += 2) points.push([numbers[i], numbers[i + 1]]);
    return { name: line.dataset.label, points: points };
  }).filter(function (line) { return line.points.length > 0; });
}
function nearest(points, x) {
  return points.reduce(function (best, point) { return Math.abs(point[0] - x) < Math.abs(best[0] - x) ? point : best; });
}
function read(svg, chart, x, where) {
  var lines = seriesOf(svg), names = chart.field.dataset.names ? chart.field.dataset.names.split('|') : null;
  if (lines.length === 0) return;
  x = nearest(lines.map(function (line) { return nearest(line.points, x); }), x)[0];
  var place = chart.left + (x - chart.low) / (chart.high - chart.low) * chart.width;
  var said = lines.map(function (line) { return [line.name, nearest(line.points, x)[1]]; });
  said.sort(function (a, b) { return b[1] - a[1]; });
  quiet(svg);
  var guide = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  guide.setAttribute('class', 'guide');
  guide.setAttribute('d', 'M' + place + ' ' + chart.top + 'v' + chart.height);
  svg.appendChild(guide);
  var box = guide.getBoundingClientRect();
  say([chart.field.dataset.what + ' ' + (names ? names[Math.round(x)] : number(x))].concat(said.map(function (pair) {
    return pair[0] + '  ' + pair[1];
  })).join('\n'), where ? where[0] : box.left, where ? where[1] : box.top + 20);
  return box;
}
all('figure svg.fig').forEach(function (svg) {
  all('title', svg).forEach(function (title) {
    if (title.parentNode === svg) return;
    title.parentNode.dataset.t = title.textContent;
    title.remove();
  });
  svg.addEventListener('pointermove', function (event) {
    var chart = chartOf(svg), mark = event.target.closest('[data-t]');
    if (chart) {
      var x = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse()).x;
      if (x >= chart.left - 6 && x <= chart.left + chart.width + 6)
        return read(svg, chart, chart.low + (x - chart.left) / chart.width * (chart.high - chart.low),
          [event.clientX, event.clientY]);
    } else if (mark) {
      quiet(svg);
      mark.classList.add('at');
      return say(text(mark), event.clientX, event.clientY);
    }
    quiet(svg);
  });
  svg.addEventListener('pointerleave', function () { quiet(svg); });
});
all('figure .scroll').forEach(function (region) {
  var svg = region.querySelector('svg.fig'), at = -1;
  if (matchMedia('(max-width:600px)').matches && chartOf(svg)) region.scrollLeft = region.scrollWidth;
  function stops(chart) {
    if (!chart) return all('[data-t]', svg).filter(function (mark) { return !mark.closest('.off,.out'); });
    var lines = seriesOf(svg);
    return lines.length > 0 ? lines[0].points : [];
  }
  region.setAttribute('aria-label', region.getAttribute('aria-label') + '; arrow keys read the values');
  region.addEventListener('keydown', function (event) {
    var moves = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9 }, move = moves[event.key];
    if (event.key === 'Escape') quiet(svg);
    if (move === undefined || event.target !== region) return;
    var chart = chartOf(svg), list = stops(chart), box;
    if (list.length === 0) return;
    at = Math.max(0, Math.min(list.length - 1, at + move));
    event.preventDefault();
    if (chart) {
      box = read(svg, chart, list[at][0]);
    } else {
      quiet(svg);
      list[at].classList.add('at');
      box = list[at].getBoundingClientRect();
      say(text(list[at]), box.right, box.top);
    }
    var frame = region.getBoundingClientRect();
    if (box.left < frame.left || box.right > frame.right) region.scrollLeft += box.left - (frame.left + frame.right) / 2;
  });
  region.addEventListener('blur', function () { quiet(svg); });
});
})();
