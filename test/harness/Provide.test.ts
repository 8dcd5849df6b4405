/** Concurrent suites on a fresh machine miss the same server: one installs it, the others wait and find it. */
import { execFile } from "node:child_process"
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it } from "vitest"

const suites = 2

/** Refuses a second run like apt-get, and runs until all suites have noticed that the server is missing, and a moment longer. */
const apt = (folder: string) => `#!/bin/sh
PATH=/usr/bin:/bin
cd '${folder}'
case $1 in --version) echo >>asked; exit ;; esac
mkdir busy || exit 100
echo "$1" >>done
until [ "$(wc -l <asked)" -ge ${suites} ]; do sleep 0.02; done
sleep 0.3
case $1 in install) echo >busybox ;; esac
rmdir busy
`

it.skipIf(process.getuid?.() !== 0)("two suites that miss a server install it once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "aicr-provide-"))
  try {
    writeFileSync(join(folder, "apt-get"), apt(folder))
    chmodSync(join(folder, "apt-get"), 0o755)
    symlinkSync("/usr/bin/flock", join(folder, "flock"))
    const suite = `import { provide } from ${JSON.stringify(join(import.meta.dirname, "Provide.ts"))}
      process.stdout.write(provide("busybox"))`
    const run = () =>
      promisify(execFile)(process.execPath, ["--input-type=module", "--eval", suite], {
        env: { PATH: folder, TMPDIR: folder }
      })
    const found = await Promise.all(Array.from({ length: suites }, run))
    expect(found.map(({ stdout }) => stdout)).toEqual([folder, folder])
    expect(readFileSync(join(folder, "done"), "utf8")).toBe("update\ninstall\n")
  } finally {
    rmSync(folder, { recursive: true })
  }
})
