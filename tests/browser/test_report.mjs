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
const screens = [[360, 'light'], [360, 'dark'], [800, 'light'], [800, 'dark'], [1920, 'light'], [1920, 'dark']];
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
        var svg = figure.querySelector('svg.fig'), box = svg.getBoundingClientRect(), problems = [];
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

const scores = ['memory', 'distance', 'map', 'difference', 'tasks', 'classes', 'loss'];
const sweeps = ['rho', 'rho-kept', 'memory-size', 'orders', 'orders-distance', 'orders-memory'];
const figuresOf = {
    paper: [...scores, 'stream', 'age', 'time'],
    wide: [...scores, 'stream', 'age', 'time'],
    sweep: [...scores, ...sweeps, 'stream', 'age', 'time'],
    memory: ['memory', 'distance', 'difference', 'stream', 'age', 'time'],
    hostile: [...scores, 'stream', 'age', 'time'],
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

// The embedded data is the files' own, but for classes told once and thinner curves.
async function checkData(browser, kind) {
    const data = JSON.parse(await browser.run("return document.getElementById('data').textContent"));
    const runs = summaries(kind);
    same(data.runs.length, runs.length, 'runs');
    data.runs.forEach((run, i) => {
        for (const key of Object.keys(runs[i])) {
            if (key === 'curve') continue;
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
        same(JSON.parse(result.value), [0, 10, 4, true], 'buttons, figures, rows, verdict');
        await picture(browser, 'paper-no-scripts');
    } finally {
        await browser.devtools('Emulation.setScriptExecutionDisabled', { value: false });
    }
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
    const unreachable = await browser.run(`return Array.from(document.querySelectorAll('a,button,summary,.scroll[role=region]')).filter(function (element) {
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
        for (const [width, scheme] of screens) {
            await test(`report_figures_are_legible_when_${kind}_is_${width}_wide_and_${scheme}`, async () => {
                await forget(browser);
                await browser.size(width, 1000);
                await browser.media('', scheme);
                await browser.open(address(kind));
                await picture(browser, `${kind}-${width}-${scheme}`);
                await checkFigures(browser, kind, width);
                await checkSilence(browser, kind);
            });
        }
    }
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
