/** A lesson from a repository reaches the model with its next review, and the problem is published all the same. */
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { parse, stringify } from "yaml"
import { Lessons } from "../../src/store/Lessons.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { toFilePath, Installation, markedLine } from "../harness/Installation.ts"

it("hints stand in the prompt, fenced; findings stay", async () => {
  await using at = await Installation.make({ queue: "memory" })
  const file = join(at.directory, "config.yaml")
  const document = parse(await readFile(file, "utf8"))
  document.review.reflection = { enabled: true, mode: "thorough" }
  await writeFile(file, stringify(document))
  const trigger: string = document.triggers[0].name
  await Effect.gen(function* () {
    const lessons = yield* Lessons
    const learnt = {
      fingerprint: "a".repeat(32),
      verdict: "dismissed" as const,
      category: "bug",
      severity: "high" as const,
      path: "src/other.ts",
      title: "Marked lines are wrong",
      quote: "export const marked"
    }
    yield* lessons.learn(
      `${trigger}:team/one`,
      [learnt],
      { maxEntries: 10, maxBytes: 10_000, keepMillis: 1e9 },
      Date.now()
    )
  }).pipe(
    Effect.provide(Store.layerSqlite({ path: join(at.directory, "aicr.db"), migrate: "auto" })),
    Effect.runPromise
  )
  await at.aicr.start()
  const pull = await at.open("change")
  await at.forge.notify(pull, "opened")
  await at.reviewed(pull)
  await at.settled()
  expect(at.model.requests[0]?.text).toMatch(
    /<earlier-findings (\w{24})>\\n- dismissed by a person: bug \(high\) in src\/other\.ts: Marked lines are wrong\. The code was: export const marked\\n<\/earlier-findings \1>/
  )
  expect(at.posted(pull).comments).toEqual([`${toFilePath("change")}:${markedLine}`])
})
