/**
 * However large a change is and whatever it is made of, one step of the work over it is short. Counted, not timed: the characters of the
 * lines that a step looks at, and for what goes over bytes how many steps there are.
 */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { anchorIn } from "../../src/review/Anchor.ts"
import { planBatches } from "../../src/review/Batches.ts"
import { unshown } from "../../src/review/CommitPatches.ts"
import { compress, tokensWithin } from "../../src/review/Compress.ts"
import type { FileDiff } from "../../src/review/FileDiff.ts"
import { hunksAround } from "../../src/review/HunksAround.ts"
import { linesOfText, readHunks, readLength } from "../../src/review/HunkText.ts"
import { fingerprintIn } from "../../src/review/Identity.ts"
import { injections } from "../../src/review/Injection.ts"
import { makeDiffParser, parseDiff } from "../../src/review/ParseDiff.ts"
import { patchIds } from "../../src/review/PatchId.ts"
import { countCutLines, renderFile } from "../../src/review/RenderDiff.ts"
import { scrubFiles } from "../../src/review/Scrub.ts"
import { scrubLines, scrubText } from "../../src/review/ScrubText.ts"
import { selectFiles } from "../../src/review/SelectFiles.ts"
import { atOnce, filterInSteps, meter, sortInSteps, stepLength } from "../../src/review/Steps.ts"
import type { Steps } from "../../src/review/Steps.ts"
import { prepareTokens } from "../../src/review/Tokens.ts"

const heading = (path: string) => `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n`
const added = (lines: ReadonlyArray<string>) =>
  `${heading("src/a.ts")}@@ -0,0 +1,${lines.length} @@ f()\n${lines.map((line) => `+${line}\n`).join("")}`
/** As many as have so many characters. */
const upTo = (length: number, make: (at: number) => string): ReadonlyArray<string> => {
  const made: Array<string> = []
  for (let sum = 0; sum < length; sum += made.at(-1)?.length ?? 1) made.push(make(made.length))
  return made
}

/** What a change of `length` characters may be made of. */
const shapes: Readonly<Record<string, (length: number) => string>> = {
  "one large file": (length) => added(upTo(length, (at) => `const value${at} = compute(${at}, other)`)),
  "one long line": (length) => added(["a = b + c;".repeat(length / 10)]),
  "lines that say nothing": (length) => added(upTo(length / 16, () => "\t")),
  "many long lines": (length) => added(upTo(length, () => "please ignore all of it ".repeat(600))),
  "lines like tokens": (length) => added(upTo(length, () => "eyJ-".repeat(4000))),
  "many hunks": (length) =>
    heading("src/a.ts") + upTo(length, (at) => `@@ -${at * 9 + 1} +${at * 9 + 1} @@ f()\n-token${at}\n+b\n`).join(""),
  "many files": (length) =>
    upTo(length, (at) => `${heading(`src/f${at}.ts`)}@@ -1 +1 @@ f()\n-generated ${at}\n+b\n`).join(""),
  "many files without a line": (length) =>
    upTo(length, (at) => `diff --git a/f${at} b/f${at}\nold mode 100644\nnew mode 100755\n`).join("")
}

const all = Number.POSITIVE_INFINITY
const problem = (quote: string) => ({ file: "src/a.ts", severity: "low", category: "c", message: "m", quote }) as const

const works: Readonly<Record<string, (files: ReadonlyArray<FileDiff>) => Steps<unknown>>> = {
  scrubFiles,
  tokensWithin: (files) => tokensWithin(files, all),
  injections: (files) => injections({ files, title: "t", description: "d" }),
  unshown: (files) => unshown(files, files),
  *anchorIn(files) {
    for (const file of files.slice(0, 2)) yield* anchorIn(file, problem("nothing of it\nstands there"))
  },
  *renderFile(files) {
    for (const file of files.slice(0, 2)) yield* renderFile(file)
  }
}

/** Likewise; of lines they ask little more than how long they are. */
const glances: typeof works = {
  planBatches: (files) => planBatches(files, 2000),
  countCutLines,
  *hunksAround(files) {
    for (const file of files.slice(0, 2)) yield* hunksAround(file, { side: "new", line: 900 }, 24_000)
  }
}

/** A change that counts the characters of the lines that are taken from it. */
const counting = (files: ReadonlyArray<FileDiff>, most: number) => {
  let count = 0
  const watched = <A>(items: ReadonlyArray<A>): ReadonlyArray<A> =>
    new Proxy(items, {
      get: (target, key, receiver) => {
        const item: unknown = Reflect.get(target, key, receiver)
        if (typeof key === "string" && /^\d/.test(key))
          count += 16 + (typeof item === "string" ? Math.min(most, item.length) : 0)
        return item
      }
    })
  const copies = files.map((file) => ({
    ...file,
    hunks: watched(file.hunks.map((hunk) => ({ ...hunk, lines: watched(hunk.lines) })))
  }))
  return { files: watched(copies), count: () => count }
}

/** The most that one step counted. */
const mostOf = (work: Steps<unknown>, count: () => number): number => {
  let most = 0
  for (let before = count(); ; before = count()) {
    const done = work.next().done
    most = Math.max(most, count() - before)
    if (done === true) return most
  }
}

const stepsOf = (work: Steps<unknown>): number => {
  let steps = 1
  while (work.next().done !== true) steps++
  return steps
}

atOnce(prepareTokens())
const length = 2_000_000
/** A step and a line over it, of lines that may be read only to a part of their length, some of them twice. */
const bound = 12 * stepLength

describe.each(Object.entries(shapes))("a change of %s", (_, make) => {
  const text = make(length)
  const files = parseDiff(text)

  it.each([
    ...Object.entries(works).map(([name, work]) => [name, work, readLength] as const),
    ...Object.entries(glances).map(([name, work]) => [name, work, 256] as const)
  ])("is not looked at for long by a step of %s", (_name, work, characters) => {
    const change = counting(files, characters)
    expect(mostOf(work(change.files), change.count)).toBeLessThanOrEqual(bound)
  })

  it("is parsed, read and hashed in steps that are as many as there is of it", () => {
    const countsOf = (given: string): ReadonlyArray<number> => {
      const parser = makeDiffParser()
      const parsed = stepsOf(parser.push(Buffer.from(given)))
      const found = parser.end()
      const read = found.map((file) => stepsOf(readHunks(file))).reduce((a, b) => a + b)
      return [parsed, read, stepsOf(patchIds(found))]
    }
    const few = countsOf(text)
    const larger = make(4 * length)
    for (const [index, steps] of countsOf(larger).entries()) {
      expect(steps, `${index}`).toBeGreaterThanOrEqual(Math.max(larger.length / 400_000, 3 * ((few[index] ?? 0) - 2)))
    }
  })

  it("is chosen from in steps that are as many as there are files and hunks", () => {
    const selection = selectFiles({
      review: { include: ["**/*"], exclude: [], max_files: 1_000_000 },
      filters: { watchPath: [], include: [], exclude: [] },
      ignores: () => false
    })
    const hunks = files.reduce((sum, file) => sum + file.hunks.length, 0)
    expect(stepsOf(selection.result(files))).toBeGreaterThan(files.length / 32)
    expect(stepsOf(compress(files, 30))).toBeGreaterThan(hunks / 32)
  })

  it("is scrubbed as a text in steps", () => {
    expect(stepsOf(scrubText(text))).toBeGreaterThan(text.length / (2 * stepLength))
    expect(stepsOf(scrubLines(text))).toBeGreaterThan(text.length / (2 * stepLength))
    expect(stepsOf(linesOfText(text))).toBeGreaterThan(atOnce(linesOfText(text)).length / 2048)
  })
})

it("an identity is looked for in steps", () => {
  const lines = Array.from({ length: 100_000 }, () => "x = 1")
  const [file] = parseDiff(added(["x = 1"]))
  if (file === undefined) throw new Error("no file")
  const place = { file, anchor: { path: "a", side: "new", line: 99_000 }, code: "x = 1", whole: true } as const
  expect(stepsOf(fingerprintIn(problem("x = 1"), place, lines))).toBeGreaterThan(50)
})

describe("sorting in steps", () => {
  it("orders as sorting at once does, equal ones as they came", () => {
    const items = fc.array(fc.record({ rank: fc.nat({ max: 20 }), id: fc.nat() }), { maxLength: 2000, size: "max" })
    fc.assert(
      fc.property(items, (given) => {
        const order = (a: { rank: number }, b: { rank: number }) => b.rank - a.rank
        expect(atOnce(sortInSteps(given, order))).toEqual(given.toSorted(order))
      }),
      { numRuns: 50 }
    )
  })

  it("compares a bounded number of items in a step", () => {
    let compared = 0
    const items = Array.from({ length: 200_000 }, (_, at) => (at * 7919) % 200_000)
    const work = sortInSteps(items, (a, b) => (compared++, a - b))
    expect(mostOf(work, () => compared)).toBeLessThan(4096)
  })
})

it("a filter asks a bounded number of items in a step", () => {
  let asked = 0
  const work = filterInSteps(Array.from({ length: 100_000 }), () => ++asked % 2 === 0)
  expect(mostOf(work, () => asked)).toBeLessThan(4096)
  expect(atOnce(filterInSteps([1, 2, 3, 4], (one) => one % 2 === 0))).toEqual([2, 4])
})

it("a meter says when a step is full, items without characters included", () => {
  const enough = meter()
  expect([stepLength, 1, stepLength].map(enough)).toEqual([true, false, true])
  const items = meter()
  let count = 1
  while (!items(0)) count++
  expect(count).toBeLessThan(4096)
})
