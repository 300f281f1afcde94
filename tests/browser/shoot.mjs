// Pictures of a page for looking at: node tests/browser/shoot.mjs PAGE.html FOLDER
import path from 'node:path';
import fs from 'node:fs';
import { Browser } from './webdriver.mjs';

const [page, folder] = process.argv.slice(2);
fs.mkdirSync(folder, { recursive: true });
const name = path.basename(page, '.html');
const browser = await Browser.start();
try {
    for (const [width, scheme] of [[360, 'light'], [360, 'dark'], [800, 'light'], [1920, 'light'], [1920, 'dark']]) {
        await browser.size(width, 1000);
        await browser.media('', scheme);
        await browser.open(`file://${path.resolve(page)}`);
        await browser.picture(path.join(folder, `${name}-${width}-${scheme}.png`));
    }
} finally {
    await browser.stop();
}
