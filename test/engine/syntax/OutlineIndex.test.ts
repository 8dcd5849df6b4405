/** Outlines are kept in the mirror, without lines of files, within a limit, and never at the cost of a review. */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import type { Outline } from "../../../src/engine/syntax/Definition.ts"
import type * as Definitions from "../../../src/engine/syntax/Definitions.ts"
import { openOutlineIndex } from "../../../src/engine/syntax/OutlineIndex.js"
import { temporaryFolder } from "../../vcs/Repository.ts"

const outline = (name: string, uses = 1): Outline => ({
  definitions: [],
  prose: null,
  uses: new Map(Array.from({ length: uses }, (_, at) => [`${name}${at * 7919}`, [at * 3]]))
})
const at = (folder = temporaryFolder()) => join(folder, "outlines.sqlite")

let loaded = 0
/** Returns another instance of the module, which has a parsing thread of its own. */
const loadDefinitions = async () =>
  (await import(`../../../src/engine/syntax/Definitions.ts?instance=${++loaded}`)) as typeof Definitions

/** Parses with a parsing thread of its own. Returns how many files were read, and the uses of `pay`. */
const usesWithNewThread = async (index: string, texts: ReadonlyArray<string>) => {
  const { usesIn } = await loadDefinitions()
  let reads = 0
  const files = texts.map((text, key) => ({
    path: "a.ts",
    key: `${key}`,
    index,
    text: Effect.sync(() => {
      reads++
      return text
    })
  }))
  return { uses: await Effect.runPromise(usesIn(files, ["pay"])), reads }
}

describe("an index of outlines", () => {
  const texts = Array.from({ length: 10 }, (_, line) => `${"\n".repeat(line)}pay("hunter2-is-mine")\n`)
  const uses = texts.map((_, line) => [{ name: "pay", line: line + 1, kind: "call" }])

  it("is filled once for each content, and has no line of it", async () => {
    const path = at()
    expect(await usesWithNewThread(path, texts)).toEqual({ uses, reads: 10 })
    expect(await usesWithNewThread(path, texts)).toEqual({ uses, reads: 0 })
    expect(await usesWithNewThread(path, [...texts, "pay()"])).toMatchObject({ reads: 1 })
    const kept = openOutlineIndex(path, readVersion(path)).get("typescript:3")
    expect([...(kept?.uses.keys() ?? [])]).toEqual(["pay"])
    expect(kept?.definitions).toEqual([])
  })

  it("is not needed: without its folder, files are parsed", async () => {
    expect(await usesWithNewThread(at(join(temporaryFolder(), "none")), texts)).toEqual({ uses, reads: 10 })
  })

  it.each<readonly [string, (path: string) => void]>([
    ["text", (path) => writeFileSync(path, "no database ".repeat(1000))],
    ["a folder", (path) => mkdirSync(join(path, "a"), { recursive: true })],
    ["a link", (path) => symlinkSync("/etc/hostname", path)],
    [
      "another database",
      (path) => new DatabaseSync(path).exec("CREATE TABLE outlines (key TEXT); PRAGMA user_version = 3")
    ],
    ["that of another release", (path) => openOutlineIndex(path, "another").put("a", outline("a"))],
    ["damaged pages", damagePages],
    ["nothing", () => undefined]
  ])("is built again in place of %s", async (_, spoil) => {
    const path = at()
    spoil(path)
    expect((await usesWithNewThread(path, texts)).uses).toEqual(uses)
    await usesWithNewThread(path, texts)
    expect(await usesWithNewThread(path, texts)).toEqual({ uses, reads: 0 })
  })

  it("is built again where an outline is damaged", async () => {
    const path = at()
    await usesWithNewThread(path, texts)
    new DatabaseSync(path).exec("UPDATE outlines SET outline = x'0102'")
    expect(await usesWithNewThread(path, texts)).toEqual({ uses, reads: 10 })
    expect(await usesWithNewThread(path, texts)).toEqual({ uses, reads: 0 })
  })

  it("stays within its limit: the oldest outlines go", () => {
    const path = at()
    const limit = 400_000
    const index = openOutlineIndex(path, "1", limit)
    for (let key = 0; key < 400; key++) index.put(`${key}`, outline(`a${key}x`, 1000))
    expect(index.get("0")).toBeUndefined()
    expect(index.get("399")).toEqual(outline("a399x", 1000))
    index.close()
    expect(statSync(path).size).toBeLessThan(limit * 1.2)
    index.put("large", outline("b", 100_000))
    expect(index.get("large")).toBeUndefined()
  })

  it("is shared by several processes, and goes with its mirror", () => {
    const folder = temporaryFolder()
    const mirror = join(folder, "mirror")
    mkdirSync(mirror)
    const [one, two] = [openOutlineIndex(at(mirror), "1"), openOutlineIndex(at(mirror), "1")]
    for (let key = 0; key < 50; key++) (key % 2 === 0 ? one : two).put(`${key}`, outline(`a${key}`))
    for (let key = 0; key < 50; key++) expect((key % 2 === 0 ? two : one).get(`${key}`)).toEqual(outline(`a${key}`))
    renameSync(mirror, join(folder, "evicted"))
    expect(one.get("1")).toBeUndefined()
    one.put("1", outline("b"))
    mkdirSync(mirror)
    expect([one.get("1"), two.get("1")]).toEqual([undefined, undefined])
    one.put("1", outline("c"))
    expect(two.get("1")).toEqual(outline("c"))
    rmSync(at(mirror))
    expect(two.get("1")).toBeUndefined()
    two.put("1", outline("d"))
    expect(one.get("1")).toEqual(outline("d"))
  })
})

/** Returns the version that the parsing thread writes. */
function readVersion(path: string): string {
  return String(new DatabaseSync(path, { readOnly: true }).prepare("SELECT version FROM release").get()?.["version"])
}

function damagePages(path: string): void {
  const index = openOutlineIndex(path, "1")
  for (let key = 0; key < 100; key++) index.put(`${key}`, outline("a", 500))
  index.close()
  const bytes = readFileSync(path)
  bytes.fill(0xff, 100, bytes.length)
  writeFileSync(path, bytes)
}
