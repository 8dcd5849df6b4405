/** Judged findings on real databases: which outcomes count, which do not because of who decided them, and how many. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Outcomes } from "../../src/store/Outcomes.ts"
import { databases } from "./Databases.ts"

type Row = Readonly<Record<string, string | number | null>>

const repository = "main:acme/app"
const insert = Effect.fnUntraced(function* (rows: ReadonlyArray<Row>) {
  const sql = yield* SqlClient.SqlClient
  for (const [at, row] of rows.entries()) {
    yield* sql`INSERT INTO finding_outcomes ${sql.insert({
      target_key: `main:acme/app#${at}`,
      fingerprint: String(at).padStart(32, "0"),
      repository,
      agent: "native-llm",
      model: "fake/model",
      category: "style",
      severity: "low",
      path: "src/a.ts",
      title: `Title ${at}`,
      head: "a".repeat(40),
      outcome: "open",
      replied: 0,
      restricted: 0,
      project: "p",
      found_in: "run",
      found_at: 1,
      decided_in: "run",
      decided_at: at,
      ...row
    })}`
  }
})
const merged = (outcome: string, by: string | null = "maintainer") => ({ outcome, merged_by: by, settled: "merged" })
const judged = (of = repository) => Outcomes.use((outcomes) => outcomes.judged(of))
const everywhere = Outcomes.use((outcomes) => outcomes.judgedEverywhere)
const forget = (categories?: ReadonlyArray<string>) =>
  Outcomes.use((outcomes) => outcomes.forgetJudged(repository, categories))

describe.each(databases)("judged findings in $name", ({ layer: fresh }) => {
  layer(fresh())("a repository", (it) => {
    it.effect("has those that a maintainer dismissed or merged, newest first", () =>
      Effect.gen(function* () {
        yield* insert([
          merged("fixed"),
          merged("partly"),
          merged("open_at_merge"),
          { outcome: "dismissed", dismissed_by: "maintainer", restricted: 1 },
          { ...merged("fixed"), repository: "main:acme/other" }
        ])
        const found = (yield* judged()).map(({ judgement, restricted, title }) => [title, judgement, restricted])
        assert.deepStrictEqual(found, [
          ["Title 3", "dismissed", true],
          ["Title 2", "ignored", false],
          ["Title 1", "accepted", false],
          ["Title 0", "accepted", false]
        ])
        assert.deepStrictEqual(yield* everywhere, [{ category: "style", severity: "low", judged: 5, accepted: 3 }])
      })
    )
  })

  layer(fresh())("an author or another account", (it) => {
    it.effect("decides nothing", () =>
      Effect.gen(function* () {
        const people = ["author", "other", null]
        yield* insert([
          ...people.flatMap((by) => ["fixed", "partly", "open_at_merge"].map((outcome) => merged(outcome, by))),
          ...people.map((by) => ({ outcome: "dismissed", dismissed_by: by })),
          ...people.map((by) => ({ ...merged("dismissed", "maintainer"), dismissed_by: by })),
          ...["open", "withdrawn", "moved_away"].map((outcome) => merged(outcome)),
          { outcome: "fixed" },
          { outcome: "open", settled: "closed" }
        ])
        assert.deepStrictEqual([yield* judged(), yield* everywhere, yield* forget()], [[], [], 0])
      })
    )
  })

  layer(fresh())("a group", (it) => {
    it.effect("has its newest findings, however many others there are", () =>
      Effect.gen(function* () {
        yield* insert([
          { ...merged("fixed"), category: "bug" },
          ...Array.from({ length: 100 }, () => merged("open_at_merge")),
          { ...merged("fixed"), model: "fake/other" }
        ])
        const found = yield* judged()
        assert.deepStrictEqual([found.length, found[0]?.model, found.at(-1)?.category], [82, "fake/other", "bug"])
      })
    )
  })

  layer(fresh())("forgotten findings", (it) => {
    it.effect("count no longer, of some categories or of all", () =>
      Effect.gen(function* () {
        yield* insert([
          merged("fixed"),
          { ...merged("fixed"), category: "bug" },
          { ...merged("fixed"), category: "testing" }
        ])
        assert.strictEqual(yield* forget(["style", "readability"]), 1)
        assert.sameMembers(
          (yield* judged()).map(({ category }) => category),
          ["bug", "testing"]
        )
        assert.strictEqual(yield* forget(), 2)
        assert.deepStrictEqual([yield* judged(), yield* everywhere, yield* forget()], [[], [], 0])
      })
    )
  })
})
