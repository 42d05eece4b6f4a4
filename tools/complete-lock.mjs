/**
 * Completes package-lock.json after `npm install`: a registry mirror that does not carry a package's builds for other platforms makes npm
 * leave them out of the lock, and then refuse the lock (`npm ci`: "Missing: ... from lock file"). Their versions are pinned by the
 * package that asks for them, so each missing one gets an entry with its version and platform, which npm skips everywhere else.
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

/** The `os`, `cpu` and `libc` of a package that is called after its platform, as in `@swc/core-linux-x64-musl`. */
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
