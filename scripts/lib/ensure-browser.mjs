import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { cache, root } from './root.mjs';
import { fail, say } from './say.mjs';

/**
 * Finds a Chromium for the browser tests: `CHROME_PATH`, the headless build inside an npm package
 * (Linux x64; it creates a context in a tenth of the time of a full browser), or an installed
 * Chrome or Chromium. `BROWSER=installed` skips the packaged build. Resolves to the environment for
 * the tests: `CHROME_PATH`, and variables for a machine that lacks the browser's libraries and
 * fonts.
 */
export async function ensureBrowser() {
  if (process.env.CHROME_PATH) return { CHROME_PATH: process.env.CHROME_PATH };
  const isPackaged = process.platform === 'linux' && process.arch === 'x64';
  if (isPackaged && process.env.BROWSER !== 'installed') return packaged();
  const { Launcher } = await import('chrome-launcher');
  try {
    const [installed] = Launcher.getInstallations();
    if (installed) return { CHROME_PATH: installed };
  } catch {
    // The launcher throws when it finds none.
  }
  return fail('No Chrome or Chromium was found. Install one, or name it: CHROME_PATH=/path/to/chrome npm test');
}

async function packaged() {
  const folder = `${cache}/chromium-${packageVersion()}`;
  if (!existsSync(folder)) {
    say('Unpacking the browser from the npm packages ...');
    // Unpack into a temporary folder and rename it, so that an interrupted run leaves no partial
    // browser.
    const draft = `${folder}.${process.pid}`;
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { recursive: true });
    await unbrotli('chromium.br', `${draft}/chromium`);
    chmodSync(`${draft}/chromium`, 0o755);
    await untar('al2023.tar.br', draft);
    await untar('swiftshader.tar.br', draft);
    await untar('fonts.tar.br', draft);
    const fonts = `<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>`;
    writeFileSync(`${draft}/fonts.conf`, `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">${fonts}\n`);
    renameSync(draft, folder);
  }
  return {
    CHROME_PATH: `${folder}/chromium`,
    ...(lacksLibraries(`${folder}/chromium`) && { LD_LIBRARY_PATH: `${folder}/lib` }),
    ...(!existsSync('/etc/fonts') && { FONTCONFIG_FILE: `${folder}/fonts.conf` }),
  };
}

const source = (name) => `${root}node_modules/@sparticuz/chromium/bin/${name}`;

function packageVersion() {
  return JSON.parse(readFileSync(`${root}node_modules/@sparticuz/chromium/package.json`, 'utf8')).version;
}

async function unbrotli(name, target) {
  await pipeline(createReadStream(source(name)), createBrotliDecompress(), createWriteStream(target));
}

async function untar(name, folder) {
  const archive = `${folder}/${name}.tar`;
  await unbrotli(name, archive);
  execFileSync('tar', ['-xf', archive, '-C', folder]);
  rmSync(archive);
}

function lacksLibraries(executable) {
  try {
    return execFileSync('ldd', [executable]).includes('not found');
  } catch {
    return true;
  }
}
