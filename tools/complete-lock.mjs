/**
 * Completes package-lock.json after `npm install`. If a registry mirror lacks a package's builds for other platforms,
 * npm leaves
 * them out of the lock file and then refuses it (`npm ci`: "Missing: ... from lock file"). Their versions are pinned
 * by the package that
 * depends on them, so this adds an entry with version and platform for each, which npm skips on other platforms.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const missing = {};
for (const { optionalDependencies = {}, dev } of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    if (Object.keys(lock.packages).some((path) => path.endsWith(`node_modules/${name}`))) continue;
    missing[`node_modules/${name}`] = { version, ...(dev && { dev }), optional: true, ...platform(name) };
  }
}
const packages = Object.entries({ ...lock.packages, ...missing }).toSorted(([a], [b]) => a.localeCompare(b, 'en'));
writeFileSync('package-lock.json', `${JSON.stringify({ ...lock, packages: Object.fromEntries(packages) }, null, 2)}\n`);
console.log(`${Object.keys(missing).length} entries added to package-lock.json`);

/** Returns `os`, `cpu` and `libc` of a package named after its platform, such as `@swc/core-linux-x64-musl`. */
function platform(name) {
  const words = name.replace(/^@[^/]+/, '').split(/[-./]/);
  const among = (field, known) => {
    const found = words.filter((word) => known.includes(word));
    return found.length ? { [field]: found } : {};
  };
  const libc = words.includes('musl')
    ? { libc: ['musl'] }
    : words.includes('gnu') && words.includes('linux')
      ? { libc: ['glibc'] }
      : {};
  return {
    ...among('os', ['darwin', 'linux', 'win32', 'freebsd', 'android', 'openharmony']),
    ...among('cpu', ['x64', 'arm64', 'arm', 'ia32', 'ppc64', 's390x', 'riscv64']),
    ...libc,
  };
}
