/** Code that a model reads for a reply: how often, and with whose rights. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Workspace } from "../../../src/config/Snapshot.ts"
import { calling } from "../../engine/Fixture.ts"
import { deliver, dispute, each, Given, reviewed } from "./ReplyWorld.ts"

const read = (path: string) => calling("fetch_more_context", { path, reason: "to see more" })
const reply = calling("reply", { outcome: "replied", text: "Because of the other file." })

const library: Workspace["contextRepositories"] = [
  { alias: "lib", kind: "git", url: "https://git.test/lib", visibility: "members", max_mb: 1 }
]

each("a model that reads gets the code at the head, checked out once; other replies check nothing out", () =>
  Effect.gen(function* () {
    yield* reviewed()
    const { conversations, files, opened, prompts, settings } = yield* Given
    files.set("src/other.ts", "export const limit = 7\nconst token = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'\n")
    yield* deliver(conversations.write("t1", "ada", "Why?"))
    assert.isEmpty(opened)
    const responses = [read("src/other.ts"), read("src/none.ts"), reply]
    settings.respond = () => responses.shift() ?? reply
    const { runs } = yield* deliver(conversations.write("t1", "ada", "And with the limit?"))
    assert.deepInclude(runs[0]?.analysis?.reply, { outcome: "replied", text: "Because of the other file." })
    assert.deepStrictEqual(opened, ["h1"])
    assert.lengthOf(prompts, 4)
    const seen = JSON.stringify(prompts.at(-1)?.messages)
    for (const part of ["1: export const limit = 7", "no such text file"]) assert.include(seen, part)
    assert.notInclude(seen, "ghp_abcdefghijklmnopqrstuvwxyz")
  })
)

each("a model reads in at most four responses", () =>
  Effect.gen(function* () {
    yield* reviewed()
    const { conversations, opened, prompts, settings } = yield* Given
    settings.respond = () => (prompts.length < 6 ? read("src/cart.ts") : reply)
    const { runs } = yield* deliver(conversations.write("t1", "ada", "Why?"))
    assert.deepInclude(runs[0], { status: "succeeded" })
    assert.lengthOf(prompts, 6)
    assert.deepStrictEqual(
      prompts.map(({ continues }) => continues),
      [true, true, true, true, false, false]
    )
    assert.include(JSON.stringify(prompts.at(-1)?.messages.at(-1)), "call reply")
    assert.deepStrictEqual(opened, ["h1"])
  })
)

each("a repository for members is read only if everybody who wrote, and controls the change, is one", () =>
  Effect.gen(function* () {
    yield* reviewed()
    const { conversations, opened, prompts, settings } = yield* Given
    conversations.isPrivate = true
    settings.contextRepositories = library
    const asks = Effect.fnUntraced(function* (person: string, body: string) {
      const responses = [read("lib:README.md"), reply]
      settings.respond = () => responses.shift() ?? reply
      opened.length = 0
      yield* deliver(conversations.write("t1", person, body), person)
      return [...opened]
    })
    assert.deepStrictEqual(yield* asks("ada", "Why?"), ["h1", "https://git.test/lib"])
    assert.include(JSON.stringify(prompts.at(-1)?.messages), "members only")
    assert.deepStrictEqual(yield* asks("eve", "@aicr what is in lib:README.md?"), ["h1"])
    assert.notInclude(JSON.stringify(prompts.at(-1)?.messages), "members only")
    // The words of an outsider stay in the thread.
    assert.deepStrictEqual(yield* asks("ada", "@aicr why?"), ["h1"])
    opened.length = 0
    const responses = [read("lib:README.md"), calling("reply", { outcome: "kept", text: "No." })]
    settings.respond = () => responses.shift() ?? reply
    yield* dispute("return sum(items)")
    assert.deepStrictEqual(opened, ["h1"])
  })
)
