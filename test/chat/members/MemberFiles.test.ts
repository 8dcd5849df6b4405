/** ChatMember files on disk: watched, polled, below their folder, and of one scope. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Context, Effect, Exit, Layer, Logger, Scope } from "effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { MemberFiles } from "../../../src/chat/members/MemberFiles.ts"
import { waitUntil } from "../../harness/Wait.ts"

const scope = { kind: "wecom_corp", id: "ww1" } as const
const text = (keys: ReadonlyArray<string>, id = scope.id) =>
  JSON.stringify({
    version: 1,
    directories: {
      corp: {
        platform: "wecom",
        identity_scope: { kind: "wecom_corp", id },
        members: keys.map((key) => ({ key, mention: { type: "wecom_userid", id: key } }))
      }
    }
  })

describe("member files on disk", () => {
  let folder: string
  let running: Scope.Closeable
  let files: MemberFiles["Service"]
  let refused: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel === "Error") refused.push(JSON.stringify(message))
  })
  beforeEach(() => {
    refused = []
    folder = mkdtempSync(join(tmpdir(), "aicr-members-"))
    running = Scope.makeUnsafe()
    files = Context.get(Effect.runSync(Layer.buildWithScope(MemberFiles.layer, running)), MemberFiles)
  })
  afterEach(async () => {
    await Effect.runPromise(Scope.close(running, Exit.void))
    rmSync(folder, { recursive: true })
  })

  const directory = { source: "file", path: "members.json", directory_id: "corp", identity_scope: scope } as const
  const keys = async (change: object = {}) => {
    const found = await files
      .get(folder, { ...directory, ...change })
      .pipe(Effect.provide(Logger.layer([logger])), Effect.runPromise)
    return found?.members.map(({ key }) => key)
  }
  const write = (content: string, name = "members.json") => writeFileSync(join(folder, name), content)
  const until = (expected: ReadonlyArray<string>, change: object = {}) =>
    waitUntil(async () => (await keys(change))?.join() === expected.join(), {
      timeout: 10_000,
      describe: () => `members ${expected.join()}`
    })

  it("are read again when they change, also by renaming", async () => {
    write(text(["ada"]))
    const slow = { poll_interval_seconds: 300, debounce_ms: 50 }
    expect(await keys(slow)).toEqual(["ada"])
    write(text(["ada", "bob"]))
    await until(["ada", "bob"], slow)
    write(text(["eve"]), "new.json")
    renameSync(join(folder, "new.json"), join(folder, "members.json"))
    await until(["eve"], slow)
  })

  it("keep their last valid content when they are refused, or gone", async () => {
    write(text(["ada"]))
    const often = { poll_interval_seconds: 300, debounce_ms: 50 }
    expect(await keys(often)).toEqual(["ada"])
    const refusals = (count: number) =>
      waitUntil(() => refused.length === count, { describe: () => refused.join("\n") })
    write('{"version":1,"directories":{"corp":{}}}')
    await refusals(1)
    expect(await keys(often)).toEqual(["ada"])
    rmSync(join(folder, "members.json"))
    await refusals(2)
    expect(await keys(often)).toEqual(["ada"])
    write(text(["bob"]), "other.json")
    renameSync(join(folder, "other.json"), join(folder, "members.json"))
    await until(["bob"], often)
  })

  it("are invalid outside of their folder, whatever link leads there", async () => {
    const outside = mkdtempSync(join(tmpdir(), "aicr-outside-"))
    writeFileSync(join(outside, "members.json"), text(["ada"]))
    symlinkSync(join(outside, "members.json"), join(folder, "members.json"))
    expect(await keys()).toBeUndefined()
    expect(await keys({ path: join(outside, "members.json") })).toBeUndefined()
    expect(await keys({ allowed_root: outside })).toEqual(["ada"])
    mkdirSync(join(folder, "below"))
    write(text(["bob"]), "below/members.json")
    expect(await keys({ path: "below/members.json" })).toEqual(["bob"])
    expect(await keys({ path: "below/members.json", allowed_root: "other" })).toBeUndefined()
    symlinkSync(outside, join(folder, "linked"))
    expect(await keys({ path: "linked/members.json" })).toBeUndefined()
    symlinkSync(join(folder, "below"), join(folder, "inner"))
    expect(await keys({ path: "inner/members.json" })).toEqual(["bob"])
    rmSync(outside, { recursive: true })
  })

  it(
    "are invalid if they are folders, pipes, links in a circle, above 4 MiB or no text",
    { timeout: 10_000 },
    async () => {
      execFileSync("mkfifo", [join(folder, "pipe")])
      symlinkSync("circle", join(folder, "circle"))
      mkdirSync(join(folder, "folder"))
      writeFileSync(
        join(folder, "binary"),
        Buffer.concat([Buffer.from("# "), Buffer.from([0xff, 0xfe]), Buffer.from(`\n${text(["ada"])}`)])
      )
      const padding = 4 * 1024 * 1024 - text(["ada"]).length
      write(`${text(["ada"])}${" ".repeat(padding)}`, "largest")
      write(`${text(["ada"])}${" ".repeat(padding + 1)}`, "larger")
      for (const path of ["pipe", "circle", "folder", "binary", "larger"])
        expect([path, await keys({ path })]).toEqual([path, undefined])
      expect(refused.filter((message) => message.includes("it is not a file")).length).toBe(2)
      expect(await keys({ path: "largest" })).toEqual(["ada"])
      // The size is known before the file is read.
      expect(refused.at(-1)).toContain("at most 4 MiB are read")
    }
  )

  it("do not stop the event loop while a large one is read, and refuse the whole of an invalid one", async () => {
    const many = Array.from({ length: 2000 }, (_, index) => `person-${index}`)
    write(text(many))
    let turns = 0
    const counter = setInterval(() => {
      turns += 1
    }, 1)
    expect(await keys()).toEqual(many)
    clearInterval(counter)
    expect(turns).toBeGreaterThan(20)
    write(text([...many, "person-0"]), "double.json")
    expect(await keys({ path: "double.json" })).toBeUndefined()
  })

  it("list no one for another scope or directory, although ids are equal", async () => {
    write(text(["ada"]))
    expect(await keys({ identity_scope: { kind: "wecom_corp", id: "ww2" } })).toBeUndefined()
    expect(await keys({ identity_scope: { kind: "feishu_app", id: scope.id } })).toBeUndefined()
    expect(await keys({ directory_id: "other" })).toBeUndefined()
  })
})
