/** Replies of a client, or of a server behind it, that are not those of Subversion: they end within limits of memory and time. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { localLimits } from "../../../src/vcs/process/ProcessLimits.ts"
import { readSvnXml } from "../../../src/vcs/subversion/SvnProcess.ts"
import { openSession } from "../../../src/vcs/subversion/SvnSession.ts"
import { expectFailure, root, serverAt } from "./Revisions.ts"

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "aicr-lies-"))
  vi.stubEnv("PATH", `${directory}:${process.env["PATH"]}`)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(directory, { recursive: true, force: true })
})

const endless = "while :; do cat megabyte || exit; done"

it.each([
  [
    "a text without an end",
    `printf '<log><msg>'; ${endless}`,
    /^failed: svn log: unreadable reply \(a text of over 4 MiB\)$/
  ],
  [
    "a tag without an end",
    `printf '<log a="'; ${endless}`,
    /^failed: svn log: unreadable reply \(a text of over 4 MiB\)$/
  ],
  ["anything else without an end", endless, /^failed: svn log: unreadable reply/],
  [
    "entities of a document type",
    `printf '<!DOCTYPE log [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><log>&b;</log>'`,
    /^failed: svn log: unreadable reply \(a document type\)$/
  ],
  ["nested elements", "i=0; while [ $i -lt 50 ]; do printf '<a>'; i=$((i + 1)); done", /nested too deep/],
  ["nothing", "exit 0", /^failed: svn log: unreadable reply/],
  ["a part of XML", "printf '<log><logentry>'", /^failed: svn log: unreadable reply/],
  [
    "a long message and its reason",
    "i=0; while [ $i -lt 20 ]; do cat megabyte >&2; i=$((i + 1)); done; printf '\\nsvn: E170001: no\\n' >&2; exit 1",
    /^unauthorized: svn log: .*E170001: no; check username/
  ]
])("%s is an error with its reason", async (_, script, reason) => {
  writeFileSync(join(directory, "megabyte"), "x".repeat(1_048_576))
  writeFileSync(join(directory, "svn"), `#!/bin/sh\ncd '${directory}'\n${script}\n`, { mode: 0o755 })
  const before = process.memoryUsage().rss
  const reading = Effect.gen(function* () {
    const session = yield* openSession(root, serverAt("svn://svn.example/repository"), () => localLimits)
    return yield* readSvnXml(session, ["log"], () => {})
  }).pipe(Effect.scoped)
  const failure = await expectFailure(Effect.runPromise(reading))
  expect(failure).toMatch(reason)
  expect(failure.length).toBeLessThan(1500)
  expect(process.memoryUsage().rss - before).toBeLessThan(192 * 1_048_576)
})
