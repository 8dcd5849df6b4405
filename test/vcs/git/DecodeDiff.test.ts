/** A diff is converted to UTF-8 per file and side, whatever the pieces in which it arrives. */
import { Effect, Stream } from "effect"
import { expect, it } from "vitest"
import { decodeDiff } from "../../../src/vcs/git/DecodeDiff.ts"
import { encode } from "../../harness/Encode.ts"

const [oldId, newId] = ["a".repeat(40), "b".repeat(40)]
const header = (path: string) =>
  `diff --git a/${path} b/${path}\nindex ${oldId}..${newId} 100644\n--- a/${path}\n+++ b/${path}\n`

const decode = (pieces: ReadonlyArray<Uint8Array>, blobs: Readonly<Record<string, Buffer>> = {}) =>
  Effect.runPromise(
    Stream.runCollect(
      decodeDiff((id) => Effect.succeed(blobs[id]))(Stream.fromIterable(pieces) as Stream.Stream<Uint8Array, never>)
    ).pipe(Effect.map((chunks) => Buffer.concat([...chunks]).toString("utf8")))
  )

const gbk = (text: string) => encode("gb18030", text)
const body = "@@ -1,2 +1,2 @@ 头部\n 上下文\n-旧的注释\n+新的注释\n"
const utf8 = `${header("utf8.c")}@@ -1 +1 @@\n-für\n+fürs\n`
const diff = Buffer.concat([
  Buffer.from(header("gbk.c")),
  gbk(body),
  Buffer.from(utf8),
  Buffer.from(header("x.c")),
  gbk(body)
])

it.each([1, 3, 11, 64, 10_000])("in pieces of %i bytes", async (size) => {
  const pieces: Array<Uint8Array> = []
  for (let at = 0; at < diff.length; at += size) pieces.push(diff.subarray(at, at + size))
  expect(await decode(pieces)).toBe(`${header("gbk.c")}${body}${utf8}${header("x.c")}${body}`)
})

it("a file that was converted has the old text in its old encoding", async () => {
  const converted = Buffer.concat([
    Buffer.from(header("a.c")),
    Buffer.from("@@ -1 +1 @@\n-"),
    gbk("中文注释\n"),
    Buffer.from("+中文注释\n")
  ])
  expect(await decode([converted])).toBe(`${header("a.c")}@@ -1 +1 @@\n-中文注释\n+中文注释\n`)
})

it("the whole file decides where the lines of the diff are few", async () => {
  const korean = (text: string) => encode("euc-kr", text)
  const short = Buffer.concat([Buffer.from(header("a.c")), Buffer.from("@@ -1 +1 @@\n-x\n+"), korean("값\n")])
  const whole = korean("배열이 비어 있으면 기본값을 반환한다\n값\n")
  expect(await decode([short], { [newId]: whole })).toContain("+값\n")
})

it("a diff in UTF-8 is unchanged", async () => {
  expect(await decode([Buffer.from(utf8)])).toBe(utf8)
  expect(await decode([])).toBe("")
})
