// The site of the documentation (tools/site) in a real browser: every page fits 390 and 1280 pixels, light and dark; links lead somewhere;
// the search finds; nothing is asked of another server.
//
//   node tests/browser/test_site.mjs PROGRAM SOURCE
//
// Speaks TAP.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Browser } from './webdriver.mjs';

const source = process.argv[3];
const place = fs.mkdtempSync(path.join(os.tmpdir(), 'ocdm-site-'));
const tests = [];
const test = (name, body) => tests.push([name, body]);

const pages = () => fs.readdirSync(place).filter((name) => name.endsWith('.html') && name !== 'demo.html');
const address = (name) => `file://${path.join(place, name)}`;
const fail = (list, what) => { if (list.length > 0) throw new Error(`${what}: ${list.slice(0, 10).join(', ')}`); };

test('site_has_a_page_for_every_document_and_header', () => {
    const wanted = [...fs.readdirSync(path.join(source, 'docs')).filter((name) => name.endsWith('.md')).map((name) => name.replace('.md', '.html')),
        ...fs.readdirSync(path.join(source, 'include/ocdm')).map((name) => `c-${name.replace('.h', '.html')}`), 'index.html', 'python-reference.html'];
    fail(wanted.filter((name) => !fs.existsSync(path.join(place, name))), 'missing');
});

test('site_links_lead_to_pages_and_sections_that_exist', () => {
    const texts = Object.fromEntries(pages().map((name) => [name, fs.readFileSync(path.join(place, name), 'utf8')]));
    const broken = Object.entries(texts).flatMap(([name, text]) => [...text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, target]) => [name, target]))
        .filter(([, target]) => !target.startsWith('https://'))
        .filter(([name, target]) => {
            const [file, anchor] = target.split('#');
            return !fs.existsSync(path.join(place, file || name)) || (anchor && !texts[file || name].includes(`id="${anchor}"`));
        });
    fail(broken.map((pair) => pair.join(' -> ')), 'broken');
});

test('site_reference_has_every_function_of_the_headers', () => {
    const header = fs.readFileSync(path.join(source, 'include/ocdm/ocdm.h'), 'utf8').replace(/\/\*[^]*?\*\//g, '');
    const page = fs.readFileSync(path.join(place, 'c-ocdm.html'), 'utf8');
    const names = [...new Set([...header.matchAll(/\b(ocdm_[a-z_]+)\(/g)].map((found) => found[1]))];
    if (names.length < 30) throw new Error(`${names.length} functions`);
    fail(names.filter((name) => !page.includes(name)), 'missing');
});

for (const width of [390, 1280])
    for (const scheme of ['light', 'dark'])
        test(`site_fits_when_${width}_wide_and_${scheme}`, async (browser) => {
            await browser.size(width, 900);
            await browser.media('', scheme);
            await browser.log('performance');
            for (const name of pages()) {
                await browser.open(address(name));
                const found = await browser.run(`return { over: document.documentElement.scrollWidth - innerWidth,
                    ground: getComputedStyle(document.body).backgroundColor, text: document.querySelector('main').innerText.length }`);
                if (found.over > 0 || found.text < 200 || (found.ground === 'rgb(255, 255, 255)') !== (scheme === 'light'))
                    throw new Error(`${name}: ${JSON.stringify(found)}`);
            }
            fail((await browser.log('performance')).map((entry) => JSON.parse(entry.message).message)
                .filter((message) => message.method === 'Network.requestWillBeSent').map((message) => message.params.request.url)
                .filter((url) => !url.startsWith(`file://${place}`) && !url.startsWith('data:')), 'requests');
        });

test('site_search_finds_sections', async (browser) => {
    await browser.open(address('index.html'));
    const found = await browser.run(`
        const input = document.querySelector('header input');
        const hits = (words) => { input.value = words; input.dispatchEvent(new Event('input'));
            return Array.from(document.querySelectorAll('#found a'), (link) => link.getAttribute('href')); };
        return { merge: hits('merge shards'), none: hits('zyzzyva'), function: hits('ocdm_memory_update'), hidden: document.querySelector('article').hidden,
            empty: hits(''), shown: !document.querySelector('article').hidden }`);
    if (!found.merge.some((place) => place.startsWith('merge.html')) || found.function[0] !== 'c-ocdm.html#ocdm_memory_update' || found.none.length > 0 ||
        !found.hidden || found.empty.length > 0 || !found.shown) throw new Error(JSON.stringify(found));
});

fs.writeFileSync(path.join(place, 'stub'), '<!DOCTYPE html><title>the demo</title>');
execFileSync('/usr/bin/python3', [path.join(source, 'tools/site'), place, path.join(place, 'stub')]);
const browser = await Browser.start();
for (const [i, [name, body]] of tests.entries()) {
    try {
        await body(browser);
        console.log(`ok ${i + 1} - ${name}`);
    } catch (error) {
        console.log(`not ok ${i + 1} - ${name}\n# ${String(error.message).slice(0, 600)}`);
        process.exitCode = 1;
    }
}
await browser.stop();
fs.rmSync(place, { recursive: true, force: true });
console.log(`1..${tests.length}`);
