// The report in a real browser: Debian's chromium, headless, driven by chromedriver.
//
//   node tests/browser/test_report.mjs PROGRAM SOURCE [PICTURES]
//
// Speaks TAP. Pictures of every page, at 360, 800 and 1920 pixels, light and dark, go to PICTURES, if it is named, for a person to
// look at.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Browser } from './webdriver.mjs';

const [program, source, keep] = process.argv.slice(2);
const place = fs.mkdtempSync(path.join(os.tmpdir(), 'ocdm-report-'));
const widths = [360, 800, 1920];
const screens = widths.flatMap((width) => [[width, 'light'], [width, 'dark']]);
const kinds = ['paper', 'wide', 'sweep', 'memory', 'hostile'];
let number = 0;
let failures = 0;

// One test; what it throws tells why it failed.
async function test(name, body) {
    number++;
    try {
        await body();
        console.log(`ok ${number} - ${name}`);
    } catch (error) {
        failures++;
        console.log(`not ok ${number} - ${name}`);
        console.log(String(error.message).split('\n').slice(0, 30).map((line) => `# ${line}`).join('\n'));
    }
}

function same(actual, expected, what) {
    if (JSON.stringify(actual) !== JSON.stringify(expected))
        throw new Error(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
}

const picture = (browser, name) => keep === undefined ? undefined : browser.picture(path.join(keep, `${name}.png`));
const page = (kind) => path.join(place, `${kind}.html`);
const address = (kind) => `file://${page(kind)}`;

// ---- what a script in the page can tell ---------------------------------------------------------------------------------

// Of each figure: its size, its marks, texts that leave the picture, texts that meet, the smallest letters.
const lookAtFigures = `
    return Array.from(document.querySelectorAll('figure')).map(function (figure) {
        var svg = Array.from(figure.querySelectorAll('svg.fig')).find(function (svg) { return svg.getBoundingClientRect().width > 0 }), box = svg.getBoundingClientRect(), problems = [];
        var texts = Array.from(svg.querySelectorAll('text')).map(function (text) {
            return { text: text.textContent, box: text.getBoundingClientRect(), up: text.hasAttribute('transform') };
        });
        var marks = Array.from(svg.querySelectorAll('rect:not(.field),polyline,.dot')).filter(function (mark) {
            var size = mark.getBoundingClientRect();
            return size.width > 0 && (size.height > 0 || mark.tagName === 'polyline');
        });
        var scale = box.width / svg.viewBox.baseVal.width;
        texts.forEach(function (a, i) {
            if (a.text !== '' && (a.box.left < box.left - 1 || a.box.right > box.right + 1 || a.box.top < box.top - 1 ||
                a.box.bottom > box.bottom + 1)) problems.push('outside: ' + a.text);
            texts.slice(i + 1).forEach(function (b) {
                var wide = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
                var high = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
                // Boxes of text have room above and below the letters: rows of it may touch.
                if (a.text !== '' && b.text !== '' && wide > 1 * scale && high > (a.up && b.up ? 99 : 4.5) * scale)
                    problems.push('meet: ' + a.text + ' | ' + b.text);
            });
        });
        var smallest = Math.min.apply(null, Array.from(svg.querySelectorAll('text')).map(function (text) {
            return parseFloat(getComputedStyle(text).fontSize) * scale;
        }));
        return { name: figure.dataset.name, width: box.width, height: box.height, marks: marks.length, smallest: smallest,
                 how: figure.querySelector('.how').textContent.length, problems: problems };
    });`;

const scores = ['memory', 'distance', 'map', 'difference', 'tasks', 'classes', 'thresholds', 'loss'];
const sweeps = ['rho', 'rho-kept', 'memory-size', 'orders', 'orders-distance', 'orders-memory'];
const figuresOf = {
    paper: [...scores, 'stream', 'pairs', 'age', 'class-age', 'time'],
    wide: [...scores, 'stream', 'pairs', 'age', 'class-age', 'time'],
    sweep: [...scores, ...sweeps, 'stream', 'pairs', 'age', 'class-age', 'time'],
    memory: ['memory', 'distance', 'difference', 'stream', 'pairs', 'age', 'class-age', 'time'],
    hostile: [...scores, 'stream', 'pairs', 'age', 'class-age', 'time'],
};

async function checkFigures(browser, kind, width) {
    const figures = await browser.run(lookAtFigures);
    same(figures.map((figure) => figure.name), figuresOf[kind], 'figures');
    for (const figure of figures) {
        const where = `${figure.name} at ${width}`;
        if (!(figure.width >= 300 && figure.height >= 100)) throw new Error(`${where}: ${figure.width} x ${figure.height}`);
        if (figure.marks < 2) throw new Error(`${where}: ${figure.marks} marks`);
        if (figure.smallest < 9.9) throw new Error(`${where}: letters of ${figure.smallest} pixels`);
        if (figure.how < 40) throw new Error(`${where}: does not say how to read it`);
        if (figure.problems.length > 0) throw new Error(`${where}:\n${figure.problems.join('\n')}`);
    }
    const spread = await browser.run('return [document.documentElement.scrollWidth, document.documentElement.clientWidth]');
    if (spread[0] > spread[1]) throw new Error(`the page is ${spread[0]} wide in a window of ${spread[1]}`);
}

// Nothing on the console, and nothing asked for but the page itself.
async function checkSilence(browser, kind) {
    const messages = await browser.log('browser');
    same(messages.map((entry) => entry.message), [], 'console');
    const requests = (await browser.log('performance')).map((entry) => JSON.parse(entry.message).message)
        .filter((message) => message.method === 'Network.requestWillBeSent').map((message) => message.params.request.url)
        .filter((url) => url !== address(kind) && !url.startsWith('data:'));
    same(requests, [], 'requests');
}

// What was logged so far is not this test's.
async function forget(browser) {
    await browser.log('browser');
    await browser.log('performance');
}

// ---- numbers ------------------------------------------------------------------------------------------------------------

function summaries(kind) {
    const folder = path.join(place, kind);
    return fs.readdirSync(folder).sort().map((name) => path.join(folder, name, 'summary.json'))
        .map((file) => JSON.parse(fs.readFileSync(file, 'utf8')));
}

const at = (object, where) => where.split('.').reduce((value, key) => value?.[key], object) ?? NaN;

function summarise(values) {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    return { mean, deviation: Math.sqrt(squares / (values.length - 1)) };
}

const readTable = `
    return Array.from(document.querySelector('table[data-name="' + arguments[0] + '"]').tBodies[0].rows).map(function (row) {
        return Array.from(row.cells).map(function (cell) {
            return { text: cell.textContent.trim(), value: cell.getAttribute('data-v'), best: cell.classList.contains('best') };
        });
    });`;

function checkCell(cell, values, decimals, where) {
    const { mean, deviation } = summarise(values);
    if (Number.isNaN(mean)) return same([cell.value, cell.text], ['', '–'], where);
    if (!(Math.abs(Number(cell.value) - mean) <= 1e-9 * Math.max(1, Math.abs(mean)))) throw new Error(`${where}: ${cell.value}, not ${mean}`);
    const text = mean.toFixed(decimals) + (values.length > 1 ? ` ± ${deviation.toFixed(decimals)}` : '');
    return same(cell.text, text, where);
}

const paperColumns = ['total', 'majority', 'moderate', 'minority'].flatMap((group) => ['CF1', 'OF1', 'mAP'].map((metric) => `final.${group}.${metric}`));

async function checkNumbers(browser, kind) {
    const runs = summaries(kind);
    const rows = await browser.run(readTable, 'results');
    const methods = [...new Set(runs.map((run) => run.settings.method))];
    same(rows.map((row) => row[0].text).sort(), methods.sort(), 'methods');
    for (const row of rows) {
        const mine = runs.filter((run) => run.settings.method === row[0].text);
        same(row[1].text, String(mine.length), 'seeds');
        paperColumns.forEach((column, i) => checkCell(row[2 + i], mine.map((run) => at(run, column)), 1, `${row[0].text} ${column}`));
    }
    paperColumns.forEach((column, i) => {
        const best = Math.max(...rows.map((row) => Number(row[2 + i].value)));
        rows.filter((row) => Number(row[2 + i].value) === best).forEach((row) => same(row[2 + i].best, true, `best of ${column}`));
    });
    const balance = await browser.run(readTable, 'balance');
    for (const row of balance) {
        const mine = runs.filter((run) => run.settings.method === row[0].text);
        const columns = [['final.distance', 4], ['final.distance_seen', 4], ['memory.kept', 0]];
        columns.forEach(([column, decimals], i) => checkCell(row[2 + i], mine.map((run) => at(run, column)), decimals, column));
    }
}

// The embedded data is the files' own, but for classes told once, thinner curves and names of machines.
async function checkData(browser, kind) {
    const data = JSON.parse(await browser.run("return document.getElementById('data').textContent"));
    const runs = summaries(kind);
    same(data.runs.length, runs.length, 'runs');
    data.runs.forEach((run, i) => {
        const { machine, ...environment } = runs[i].environment;
        same([machine === undefined, run.summary.environment], [false, environment], 'an environment without the name of the machine');
        for (const key of Object.keys(runs[i])) {
            if (key === 'curve' || key === 'environment') continue;
            if (key === 'classes' && run.summary.classes === undefined) same(data.runs[run.summary.classes_of_run].summary.classes, runs[i].classes, 'classes');
            else same(run.summary[key], runs[i][key], key);
        }
        if (run.summary.curve.step.length > 501) throw new Error('a curve is not thinned');
    });
}

// ---- the tests ----------------------------------------------------------------------------------------------------------

async function checkSorting(browser) {
    const column = 4; // total mAP
    const values = async () => (await browser.run(readTable, 'results')).map((row) => Number(row[column].value));
    const click = (i) => browser.run("document.querySelector('table[data-name=results]').tHead.rows[1].cells[arguments[0]].querySelector('button').click()", i);
    const descending = [...(await values())].sort((a, b) => b - a);
    await click(0);
    const names = (await browser.run(readTable, 'results')).map((row) => row[0].text);
    same(names, [...names].sort(), 'sorted by name');
    await click(column);
    same(await values(), descending, 'descending');
    await browser.run("document.querySelector('table[data-name=results]').tHead.rows[1].cells[arguments[0]].querySelector('button').focus()", column);
    await browser.press('\uE007');
    same(await values(), [...descending].reverse(), 'ascending, by the keyboard');
    same(await browser.run("return document.querySelectorAll('table[data-name=results] th[aria-sort]').length"), 1, 'aria-sort');
}

async function checkHostile(browser) {
    const found = await browser.run(`return {
        title: document.title, scripts: document.scripts.length, images: document.images.length,
        handlers: document.querySelectorAll('[onerror],[onmouseover],[onload]').length,
        bold: document.querySelectorAll('main b, main i, iframe, object, embed').length,
        styles: document.querySelectorAll('style').length,
        text: document.body.textContent,
        names: Array.from(document.querySelectorAll('table[data-name=classes] tbody th')).map(function (th) { return th.textContent }),
        longest: Math.max.apply(null, Array.from(document.querySelectorAll('td,th')).map(function (cell) { return cell.textContent.length })),
        isolated: Array.from(document.querySelectorAll('td,th,p,h1,li')).every(function (cell) {
            return Array.from(cell.childNodes).every(function (node) { return node.nodeType !== 3 || !/[\\u202a-\\u202e\\u2066-\\u2069]/.test(node.data) });
        }),
        svg: Array.from(document.querySelectorAll('svg text, svg title')).every(function (text) { return !/[\\u202a-\\u202e\\u2066-\\u2069]/.test(text.textContent) }),
        states: Array.from(document.querySelectorAll('#unfinished tbody tr')).map(function (tr) { return tr.cells[1].textContent }) }`);
    same([found.title, found.scripts, found.images, found.handlers, found.bold, found.styles],
         ['What the memory kept and what was learned', 2, 0, 0, 0, 1], 'elements');
    for (const text of ['<script>document.title="owned"</script>', '<img src=x onerror=alert(1)>-s0', '" onmouseover="alert(1)"', '<i>stream</i>'])
        if (!found.text.includes(text)) throw new Error(`not shown as text: ${text}`);
    same(found.names.length, 44, 'classes');
    same([found.isolated, found.svg], [true, true], 'marks of direction are kept in');
    if (found.longest > 1000) throw new Error(`a cell of ${found.longest} characters`);
    same(found.states, ['damaged', 'missing', 'not finished', 'damaged'], 'runs that are not whole');
}

async function checkWithoutScripts(browser) {
    await browser.devtools('Emulation.setScriptExecutionDisabled', { value: true });
    try {
        await browser.open(address('paper'));
        const { result } = await browser.devtools('Runtime.evaluate', { expression: `JSON.stringify([
            document.querySelectorAll('button').length, document.querySelectorAll('figure .own svg.fig').length,
            document.querySelectorAll('table[data-name=results] tbody tr').length, document.querySelector('.verdict').textContent.length > 40])` });
        same(JSON.parse(result.value), [0, 13, 4, true], 'buttons, figures, rows, verdict');
        await picture(browser, 'paper-no-scripts');
    } finally {
        await browser.devtools('Emulation.setScriptExecutionDisabled', { value: false });
    }
}

// ---- what a reader does -------------------------------------------------------------------------------------------------

// Scrolls an element to the middle of the window and returns its box.
const bring = `
    var element = document.querySelector(arguments[0]);
    element.scrollIntoView({ block: 'center' });
    var box = element.getBoundingClientRect();
    return { left: box.left, top: box.top, width: box.width, height: box.height, right: box.right, bottom: box.bottom };`;

async function clickOn(browser, what) {
    const box = await browser.run(bring, what);
    await browser.point(box.left + Math.min(box.width / 2, 20), box.top + box.height / 2, true);
}

const tipText = (browser) => browser.run("var tip = document.querySelector('.tip'); return tip.hidden ? '' : tip.textContent");

// What the tip should say of the last evaluation: the means of the summaries, four digits, the highest first.
function lastEvaluation(kind) {
    const runs = summaries(kind);
    const means = [...new Set(runs.map((run) => run.settings.method))].map((method) => {
        const values = runs.filter((run) => run.settings.method === method).map((run) => run.evaluations.at(-1).total.mAP);
        return [method, summarise(values).mean];
    });
    return means.sort((a, b) => b[1] - a[1]).map(([method, mean]) => `${method}  ${Number(mean.toPrecision(4))}`);
}

async function checkHover(browser) {
    const field = await browser.run(bring, 'figure[data-name=map] .field');
    const edge = Math.min(field.right, (await browser.run('return innerWidth')) - 16) - 12;
    await browser.point(edge, field.top + 40);
    const said = (await tipText(browser)).split('\n');
    if (field.right < edge + 20) same([said[0], said.slice(1)], ['evaluated after + task 2', lastEvaluation('paper')], 'values of a chart');
    else same([said[0].startsWith('evaluated after '), said.length], [true, 5], 'values of a chart');
    const inside = await browser.run("var box = document.querySelector('.tip').getBoundingClientRect(); return box.left >= 0 && box.right <= innerWidth && box.bottom <= innerHeight");
    same(inside, true, 'the tip is in the window');
    const bar = await browser.run(bring, 'figure[data-name=memory] [data-m=ocdm] rect[data-c=person]');
    await browser.point(bar.left + bar.width / 2, bar.bottom - 2);
    const counts = summaries('paper').filter((run) => run.settings.method === 'ocdm').map((run) => run.memory.counts[0]);
    const text = await tipText(browser);
    if (!text.startsWith(`ocdm, person: ${Number(summarise(counts).mean.toPrecision(4))}, target `)) throw new Error(`tip of a bar: ${text}`);
    await browser.point(2, 2);
    same(await tipText(browser), '', 'the tip goes');
}

const shownOf = `return ['ocdm', 'prs'].map(function (mark) {
    var parts = Array.from(document.querySelectorAll('[data-m="' + mark + '"]')).filter(function (part) { return !part.closest('details:not([open]),.other') });
    return [parts.length > 40, parts.filter(function (part) { return getComputedStyle(part).display !== 'none' }).length === parts.length,
        parts.some(function (part) { return getComputedStyle(part).display !== 'none' })];
})`;

// At every width by the bar above; on a narrow screen also by the legend of a chart, otherwise by the name at the end of a line.
async function checkHiding(browser, width) {
    const height = () => browser.run("return document.querySelector('figure[data-name=memory] svg.fig').viewBox.baseVal.height");
    const before = await height();
    same(await browser.run(shownOf), [[true, true, true], [true, true, true]], 'before');
    await clickOn(browser, '.tools [data-toggle=prs]');
    same(await browser.run(shownOf), [[true, true, true], [true, false, false]], 'prs is hidden');
    same(await browser.run("return Array.from(document.querySelectorAll('[data-toggle=prs]')).map(function (b) { return b.getAttribute('aria-pressed') }).filter(function (p) { return p !== 'false' }).length"), 0, 'aria-pressed');
    if (!((await height()) < before - 80)) throw new Error('the panels below do not move up');
    const left = await browser.run("return Array.from(document.querySelectorAll('table[data-name=results] tbody tr')).filter(function (tr) { return tr.checkVisibility() }).map(function (tr) { return tr.dataset.m }).sort()");
    same(left, ['cbes', 'ocdm', 'rs'], 'rows');
    await browser.run("document.querySelector('.tools [data-toggle=prs]').focus()");
    await browser.press('\uE007');
    same([await browser.run(shownOf), await height()], [[[true, true, true], [true, true, true]], before], 'shown again, by the keyboard');
    await clickOn(browser, width < 900 ? 'figure[data-name=map] .legend [data-toggle=prs]' : 'figure[data-name=map] [data-m=prs] .name');
    same((await browser.run(shownOf))[1], [true, false, false], 'hidden in a figure');
    await clickOn(browser, '.tools [data-toggle=prs]');
}

async function checkSwitch(browser) {
    const seen = () => browser.run("return ['own', 'other'].map(function (which) { return document.querySelector('figure[data-name=distance] .' + which).checkVisibility() })");
    same(await seen(), [true, false], 'the own scale first');
    await clickOn(browser, 'figure[data-name=distance] .to-other + label');
    same(await seen(), [false, true], 'the other scale');
    await browser.run("document.querySelector('figure[data-name=distance] .to-other').focus()");
    await browser.press('\uE012');
    same(await seen(), [true, false], 'back, by the keyboard');
}

async function checkSearch(browser) {
    await browser.run(bring, '.tools input');
    await browser.run("document.querySelector('.tools input').focus()");
    await browser.press('cat');
    const found = () => browser.run(`return [
        Array.from(document.querySelectorAll('table[data-name=classes] tbody tr')).filter(function (tr) { return tr.checkVisibility() }).map(function (tr) { return tr.dataset.c }),
        Array.from(document.querySelectorAll('figure[data-name=classes] g[data-c]')).filter(function (g) { return getComputedStyle(g).display !== 'none' }).length,
        document.querySelectorAll('figure[data-name=memory] [data-m=ocdm] rect[data-c]:not(.dim)').length / 2,
        document.querySelector('.tools output').textContent]`);
    same(await found(), [['cat'], 1, 1, '1 of 44'], 'classes with "cat"');
    await browser.press('\uE003\uE003\uE003');
    const all = await found();
    same([all[0].length, ...all.slice(1)], [44, 44, 44, ''], 'all classes');
}

async function checkReading(browser) {
    await browser.run("document.querySelector('figure[data-name=map] .scroll').focus()");
    await browser.press('\uE010');
    same((await tipText(browser)).split('\n'), ['evaluated after + task 2', ...lastEvaluation('paper')], 'values, by the keyboard');
    await browser.press('\uE012');
    same((await tipText(browser)).split('\n')[0], 'evaluated after + task 1', 'the one before');
    await browser.press('\uE00C');
    same(await tipText(browser), '', 'Escape');
    await browser.run("document.querySelector('figure[data-name=memory] .scroll').focus()");
    await browser.press('\uE014\uE014');
    if (!/^ocdm, .+: \d/.test(await tipText(browser))) throw new Error(`a bar, by the keyboard: ${await tipText(browser)}`);
}

// Prose and tables have one width; on a narrow screen the total is seen first, tables show that they go on, and charts have a legend
// and show the ends of their curves.
async function checkLayout(browser, width) {
    const found = await browser.run(`
        var table = document.querySelector('table[data-name=results]'), box = table.closest('.scroll'), note = box.previousElementSibling;
        var edges = [box, note, document.querySelector('.verdict'), document.querySelector('pre'), document.querySelector('figcaption')].map(function (part) {
            var rect = part.getBoundingClientRect(); return Math.round(rect.left) + ' ' + Math.round(rect.right) });
        var legend = document.querySelector('figure[data-name=map] .legend'), svg = document.querySelector('figure[data-name=map] svg.fig');
        return { edges: new Set(edges).size, first: table.tHead.rows[0].cells[2].textContent, right: table.tBodies[0].rows[0].cells[4].getBoundingClientRect().right,
            scrolls: box.scrollWidth > box.clientWidth, shades: getComputedStyle(box).backgroundImage.split('linear-gradient').length - 1,
            attached: getComputedStyle(box).backgroundAttachment, legend: legend.checkVisibility(),
            ends: Array.from(svg.querySelectorAll('polyline')).every(function (line) { return line.getBoundingClientRect().right <= svg.closest('.scroll').getBoundingClientRect().right }),
            above: legend.getBoundingClientRect().bottom <= svg.getBoundingClientRect().top + 1, names: legend.children.length }`);
    same(found.edges, 1, 'widths');
    same(found.first, 'total (44)', 'the first group');
    if (found.right > width) throw new Error(`the total mAP is at ${found.right} of ${width}`);
    same([found.shades, found.attached], [4, 'local, local, scroll, scroll'], 'shades at the edges');
    same(found.scrolls, width === 360, 'the table scrolls');
    same([found.legend, found.names], [width < 900, 4], 'legend');
    if (width < 900) same(found.above, true, 'legend above');
    if (width < 600) same(found.ends, true, 'the ends of curves are in view');
}

// Every colour of a method, and the letters of the heat map, against what is behind them.
async function checkContrast(browser) {
    const [colours, cells] = await browser.run(`
        function numbers(colour) { return colour.match(/[\\d.]+/g).slice(0, 3).map(Number) }
        var ground = numbers(getComputedStyle(document.body).backgroundColor), probe = document.createElementNS('http://www.w3.org/2000/svg', 'path'), colours = [];
        document.querySelector('svg.fig').appendChild(probe);
        for (var i = 0; i < 11; i++) { probe.setAttribute('class', 's' + i + ' f' + i); colours.push([ground, numbers(getComputedStyle(probe).stroke)]); }
        probe.remove();
        var cells = Array.from(document.querySelectorAll('figure[data-name=tasks] g[role=cell]')).filter(function (cell) { return cell.firstElementChild }).map(function (cell) {
            return [numbers(getComputedStyle(cell.querySelector('rect')).fill), numbers(getComputedStyle(cell.querySelector('text')).fill)] });
        return [colours, cells];`);
    const light = (rgb) => [0.2126, 0.7152, 0.0722].reduce((sum, part, i) => sum + part * (rgb[i] <= 10 ? rgb[i] / 3294.6 : ((rgb[i] / 255 + 0.055) / 1.055) ** 2.4), 0);
    const contrast = ([a, b]) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
    const least = (pairs) => Math.min(...pairs.map(contrast));
    same(new Set(colours.map((pair) => pair[1].join())).size, 11, 'colours');
    if (least(colours) < 3) throw new Error(`a method has a contrast of ${least(colours)}`);
    if (cells.length !== 40 || least(cells) < 4.5) throw new Error(`${cells.length} cells with a contrast of ${least(cells)}`);
}

// What a screen reader is told: the heat maps are tables, the controls have names and states, the values are announced.
async function checkAccessibility(browser) {
    await browser.devtools('Accessibility.enable');
    const { nodes } = await browser.devtools('Accessibility.getFullAXTree');
    await browser.devtools('Accessibility.disable');
    const named = (role) => nodes.filter((node) => !node.ignored && node.role?.value === role).map((node) => node.name?.value ?? '');
    for (const name of ['ocdm: mAP of each task after each task', 'average precision of each class'])
        if (!named('table').includes(name)) throw new Error(`no table "${name}" in ${named('table')}`);
    const numbers = named('cell').concat(named('gridcell')).filter((name) => /^\d+\.\d$/.test(name));
    if (numbers.length < 4 * 10 + 4 * 44) throw new Error(`${numbers.length} cells with numbers`);
    for (const name of ['ocdm', 'prs', 'cbes', 'rs'])
        if (!named('button').includes(name)) throw new Error(`no button "${name}"`);
    same(named('searchbox'), ['Find a class'], 'the search');
    for (const name of ['linear', 'logarithmic']) if (!named('radio').includes(name)) throw new Error(`no switch "${name}"`);
    if (named('status').length < 2) throw new Error('nothing is announced');
    same(nodes.filter((node) => ['button', 'link', 'radio', 'searchbox'].includes(node.role?.value) && !node.ignored && !node.name?.value).length, 0, 'controls without a name');
}

// The scales that are not shown at first are as legible as the others.
async function checkOtherScales(browser, kind) {
    await browser.size(1920, 1000);
    await browser.open(address(kind));
    await browser.run("document.querySelectorAll('.to-other').forEach(function (input) { input.checked = true })");
    await checkFigures(browser, kind, 'the other scales');
}

// A4 is 794 pixels wide, less the margins.
async function checkPrint(browser) {
    await browser.size(696, 1000);
    await browser.media('print', 'light');
    await browser.open(address('paper'));
    const [wide, room, table] = await browser.run(`return [document.documentElement.scrollWidth, document.documentElement.clientWidth,
        document.querySelector('table[data-name=results]').getBoundingClientRect().right]`);
    if (wide > room || table > room) throw new Error(`${wide} and ${table} of ${room} pixels`);
    const { data } = await browser.devtools('Page.printToPDF', { preferCSSPageSize: true, printBackground: false });
    const pdf = Buffer.from(data, 'base64');
    if (keep !== undefined) fs.writeFileSync(path.join(keep, 'paper.pdf'), pdf);
    same(pdf.subarray(0, 5).toString(), '%PDF-', 'a PDF');
    await picture(browser, 'paper-print');
    await browser.media('', 'light');
}

async function checkKeyboard(browser) {
    await browser.size(1920, 1000);
    await browser.open(address('paper'));
    await browser.press('\uE004');
    same(await browser.run('return document.activeElement.className'), 'skip', 'the first stop');
    const shown = await browser.run('var box = document.activeElement.getBoundingClientRect(); return box.left >= 0 && box.width > 0');
    same(shown, true, 'the skip link is seen');
    const unreachable = await browser.run(`return Array.from(document.querySelectorAll('a,button,input,summary,.scroll[role=region]')).filter(function (element) {
        element.focus(); return document.activeElement !== element && element.checkVisibility();
    }).length`);
    same(unreachable, 0, 'elements that cannot have the focus');
}

for (const kind of kinds) {
    execFileSync(path.join(source, 'tests/made-runs'), [path.join(place, kind), kind]);
    execFileSync(program, ['report', kind, '-o', `${kind}.html`], { cwd: place, stdio: ['ignore', 'ignore', kind === 'hostile' ? 'ignore' : 'inherit'] });
}
if (keep !== undefined) fs.mkdirSync(keep, { recursive: true });
const browser = await Browser.start();
try {
    await browser.open('about:blank');
    await forget(browser);
    for (const kind of kinds) {
        for (const width of widths) {
            await test(`report_figures_are_legible_when_${kind}_is_${width}_wide`, async () => {
                await forget(browser);
                await browser.size(width, 1000);
                await browser.open(address(kind));
                for (const scheme of ['light', 'dark']) {
                    await browser.media('', scheme);
                    await picture(browser, `${kind}-${width}-${scheme}`);
                }
                await checkFigures(browser, kind, width);
                await checkSilence(browser, kind);
            });
        }
    }
    for (const [width, scheme] of screens) {
        await test(`report_can_be_explored_when_${width}_wide_and_${scheme}`, async () => {
            await forget(browser);
            await browser.size(width, 1000);
            await browser.media('', scheme);
            await browser.open(address('paper'));
            for (const check of [checkLayout, checkContrast, checkHover, checkHiding, checkSwitch, checkSearch, checkReading]) await check(browser, width);
            await checkSilence(browser, 'paper');
        });
    }
    await browser.media('', 'light');
    await test('report_speaks_to_screen_readers', () => checkAccessibility(browser));
    for (const kind of ['paper', 'wide', 'memory']) await test(`report_scales_of_${kind}_can_be_switched`, () => checkOtherScales(browser, kind));
    for (const kind of ['paper', 'wide']) {
        await test(`report_shows_the_numbers_of_the_summaries_of_${kind}`, async () => {
            await browser.open(address(kind));
            await checkNumbers(browser, kind);
            await checkData(browser, kind);
        });
    }
    await test('report_tables_sort_when_a_header_is_pressed', async () => { await browser.open(address('wide')); await checkSorting(browser); });
    await test('report_shows_hostile_texts_as_text', async () => { await forget(browser); await browser.open(address('hostile')); await checkHostile(browser); await checkSilence(browser, 'hostile'); });
    await test('report_is_readable_without_scripts', () => checkWithoutScripts(browser));
    await test('report_can_be_used_from_the_keyboard', () => checkKeyboard(browser));
    await test('report_prints_on_a4', () => checkPrint(browser));
} finally {
    await browser.stop();
    fs.rmSync(place, { recursive: true, force: true });
}
console.log(`1..${number}`);
process.exitCode = failures > 0 ? 1 : 0;
