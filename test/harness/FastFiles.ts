/**
 * The tests of `npm run test:fast`: those whose own files import nothing that starts or connects to a program, draw no random inputs, are no
 * sample of something larger and take seconds at most. What a test imports from the sources does not count; FastGuard.ts fails a test that starts a program by them.
 */
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"

const root = join(import.meta.dirname, "../..")

/** Programs, browsers, sockets and servers; `fast-check`, because thousands of inputs take longer than everything else. */
const slow: ReadonlySet<string> = new Set([
  "node:child_process",
  "node:cluster",
  "node:dgram",
  "node:http",
  "node:http2",
  "node:https",
  "node:net",
  "node:tls",
  "node:worker_threads",
  "fast-check",
  "ioredis",
  "pg",
  "playwright-core",
  "undici",
  "ws"
])

/** Days of a clock, streams that last, and lists at their limits: a third of the time of all the others. */
const long: ReadonlySet<string> = new Set([
  "test/actors/QueueFields.test.ts",
  "test/actors/review/ReviewExecutor.test.ts",
  "test/admin/handlers/LiveHandlers.test.ts",
  "test/chat/members/MemberFile.test.ts",
  "test/config/snapshots/SnapshotArchive.test.ts"
])

const imported = /^(?:import|export) (?!type\b)(?:[^"']*? from )?"([^"]+)"|\bimport\("([^"]+)"\)/gm

/** Lists what a file of tests and the files of tests that it imports import in addition. */
export const listImports = (file: string, seen = new Set<string>()): ReadonlySet<string> => {
  if (seen.has(file)) return new Set()
  seen.add(file)
  const found = new Set<string>()
  for (const [, direct, later] of readFileSync(join(root, file), "utf8").matchAll(imported)) {
    const name = direct ?? later ?? ""
    const path = name.startsWith(".") ? relative(root, join(root, dirname(file), name)) : undefined
    const more = path?.startsWith("test/") === true && path.endsWith(".ts") ? listImports(path, seen) : [path ?? name]
    for (const one of more) found.add(one)
  }
  return found
}

export const isFast = (file: string): boolean =>
  !long.has(file) &&
  !readFileSync(join(root, file), "utf8").includes("AICR_TEST_") &&
  [...listImports(file)].every((name) => !slow.has(name))

export const fastFiles = (): ReadonlyArray<string> =>
  readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .map((name) => `test/${name}`)
    .filter((name) => name.endsWith(".test.ts") && !/^test\/(?:bench|fuzz)\//.test(name) && isFast(name))
    .toSorted()
