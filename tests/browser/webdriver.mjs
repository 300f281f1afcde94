// A small client of the W3C WebDriver protocol: Debian's chromedriver and chromium, plain HTTP, nothing from a package registry.
import { spawn } from 'node:child_process';
import http from 'node:http';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

function call(port, method, where, body) {
    return new Promise((resolve, reject) => {
        const text = body === undefined ? '' : JSON.stringify(body);
        const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };
        const request = http.request({ host: '127.0.0.1', port, method, path: where, headers }, (response) => {
            const parts = [];
            response.on('data', (part) => parts.push(part));
            response.on('end', () => {
                const { value } = JSON.parse(Buffer.concat(parts).toString());
                if (value && value.error) reject(new Error(`${where}: ${value.error}: ${value.message.split('\n')[0]}`));
                else resolve(value);
            });
        });
        request.on('error', reject);
        request.end(text);
    });
}

// The driver says on which port it listens.
function startDriver() {
    return new Promise((resolve, reject) => {
        const driver = spawn('chromedriver', ['--port=0'], { stdio: ['ignore', 'pipe', 'inherit'] });
        let said = '';
        driver.on('error', reject);
        driver.on('exit', (code) => reject(new Error(`chromedriver ended with ${code}: ${said}`)));
        driver.stdout.on('data', (part) => {
            said += part;
            const port = /successfully on port (\d+)/.exec(said);
            if (port) resolve({ driver, port: Number(port[1]) });
        });
    });
}

export class Browser {
    static async start() {
        const { driver, port } = await startDriver();
        const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'ocdm-browser-'));
        const args = ['--headless=new', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--disable-dev-shm-usage', `--user-data-dir=${profile}`];
        try {
            const { sessionId } = await call(port, 'POST', '/session', {
                capabilities: {
                    alwaysMatch: {
                        browserName: 'chrome',
                        'goog:chromeOptions': { binary: '/usr/bin/chromium', args },
                        'goog:loggingPrefs': { browser: 'ALL', performance: 'ALL' },
                    },
                },
            });
            const browser = Object.assign(new Browser(), { driver, port, profile, base: `/session/${sessionId}` });
            await browser.devtools('Emulation.setFocusEmulationEnabled', { enabled: true });
            return browser;
        } catch (error) {
            driver.kill();
            throw error;
        }
    }

    async stop() {
        await call(this.port, 'DELETE', this.base).catch(() => {});
        this.driver.removeAllListeners('exit');
        this.driver.kill();
        fs.rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
    }

    open(url) { return call(this.port, 'POST', `${this.base}/url`, { url }); }
    run(script, ...args) { return call(this.port, 'POST', `${this.base}/execute/sync`, { script, args }); }
    log(type) { return call(this.port, 'POST', `${this.base}/se/log`, { type }); }
    devtools(cmd, params = {}) { return call(this.port, 'POST', `${this.base}/goog/cdp/execute`, { cmd, params }); }

    // Until a page has been painted, the browser drops what is typed: the second frame comes after the first was.
    painted() {
        return this.run('return new Promise(function (done) { requestAnimationFrame(function () { requestAnimationFrame(done) }) })');
    }

    // Sends keys to whatever has the focus.
    async press(keys) {
        await this.painted();
        const actions = [...keys].flatMap((key) => [{ type: 'keyDown', value: key }, { type: 'keyUp', value: key }]);
        return call(this.port, 'POST', `${this.base}/actions`, { actions: [{ type: 'key', id: 'keys', actions }] });
    }

    // Moves the pointer to a place in the window, and presses there.
    point(x, y, press = false) {
        const actions = [{ type: 'pointerMove', x: Math.round(x), y: Math.round(y) }];
        if (press) actions.push({ type: 'pointerDown', button: 0 }, { type: 'pointerUp', button: 0 });
        return call(this.port, 'POST', `${this.base}/actions`, { actions: [{ type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions }] });
    }

    size(width, height) {
        return this.devtools('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
    }

    media(media, scheme) {
        return this.devtools('Emulation.setEmulatedMedia', { media, features: [{ name: 'prefers-color-scheme', value: scheme }] });
    }

    // The whole page as a PNG. On a busy machine the browser now and then waits for a frame that never comes, and has lost the page's
    // size after that: it is asked again.
    async picture(file, tries = 4) {
        const { data } = await this.devtools('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true }).catch(async (error) => {
            if (tries === 1 || !/timeout|0 width/.test(error.message)) throw error;
            await new Promise((done) => setTimeout(done, 500));
            return {};
        });
        if (data === undefined) return this.picture(file, tries - 1);
        fs.writeFileSync(file, Buffer.from(data, 'base64'));
    }
}
