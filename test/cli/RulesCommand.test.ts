/** The command `aicr rules`: examples with a scripted model, and health while another process has the records open. */
import { join } from "node:path"
import { Effect } from "effect"
import { writeFile } from "node:fs/promises"
import { expect, it } from "vitest"
import { stringify } from "yaml"
import { LeaseToken } from "../../src/domain/FencingToken.ts"
import { Runs } from "../../src/store/Runs.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { review, startFakeModel } from "../harness/FakeModel.ts"
import { publishing } from "../store/Outcomes.ts"
import { makeRepository, temporaryFolder } from "../vcs/Repository.ts"
import { runAicr } from "../harness/RunAicr.ts"

const aicr = (env: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
  runAicr(["rules", ...args], { env: { HOME: temporaryFolder(), ...env } })

const rule = (id: string, examples: string) =>
  `---\nid: ${id}\nglobs: src/**/*.ts\nseverity: high\n---\nRule ${id}.\n\n${examples}`
const example = (kind: string, code: string) => `## ${kind}\n\`\`\`ts\n${code}\n\`\`\`\n`

it("reviews the examples of rules, and ends with 1 if one does not pass", async () => {
  const cite = (text: string, code: string, id: string) =>
    text.includes(code)
      ? [{ file: "src/example.ts", severity: "low", category: "bug", message: "Broken.", quote: code, rule: id }]
      : []
  await using model = await startFakeModel(({ text }) =>
    review([...cite(text, "badOne()", "one"), ...cite(text, "goodTwo()", "two")])
  )
  const repository = makeRepository()
  repository.write(".aicr/rules/one.md", rule("one", example("Bad", "badOne()") + example("Good", "goodOne()")))
  repository.write(".aicr/rules/two.md", rule("two", example("Bad", "badTwo()") + example("Good", "goodTwo()")))
  const env = { OPENAI_API_KEY: "key", OPENAI_BASE_URL: `${model.url}/v1` }
  const passed = await aicr(env, "test", repository.path, "--rule", "one")
  expect([passed.code, passed.out]).toEqual([0, "passed  one/bad-1\npassed  one/good-1\n"])
  expect(model.requests[0]?.text).toContain("- one (high): Rule one.")
  expect(model.requests[0]?.text).toContain("Id of the broken rule.")

  const both = await aicr(env, "test", repository.path, "--json")
  expect([both.code, both.err]).toEqual([1, expect.stringContaining("2 of 4 examples are wrong")])
  expect(
    JSON.parse(both.out).results.map(({ example: name, passed: is }: { example: string; passed: boolean }) => [
      name,
      is
    ])
  ).toEqual([
    ["one/bad-1", true],
    ["one/good-1", true],
    ["two/bad-1", false],
    ["two/good-1", false]
  ])

  const unknown = await aicr(env, "test", repository.path, "--rule", "three")
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining("has no rule three; it has one, two")])
  repository.write(".aicr/rules/bad.md", "---\nseverity: urgent\n---\nText\n")
  const invalid = await aicr(env, "test", repository.path)
  expect([invalid.code, invalid.err]).toEqual([
    2,
    ".aicr/rules/bad.md: its severity urgent is not info, low, medium, high or critical\n"
  ])
}, 120_000)

it("lists the health of rules", async () => {
  const directory = temporaryFolder()
  const config = join(directory, "config.yaml")
  await writeFile(
    config,
    stringify({
      triggers: [{ name: "main", kind: "gitea", base_url: "https://git.test", webhook_secret_env: "NOT_SET_HERE" }],
      workspaces: { instances: { app: { source_repo: { trigger: "main", repo: "acme/app" } } } },
      storage: { database: { sqlite: { path: "aicr.db" } } }
    })
  )
  await Effect.gen(function* () {
    const { id } = yield* publishing(1, LeaseToken.make(1), {
      rules: [{ id: "one", digest: "d", severity: "high", owner: "ada\u001b[31m" }]
    })
    yield* Runs.use((runs) => runs.settle(id, "succeeded", { partial: false }, 10))
    const shown = yield* Effect.promise(() => aicr({}, "health", "--config", config))
    expect(shown.out).toBe(
      [
        "repository     rule  owner     state   used  findings  accepted  dismissed  ignored  share",
        "main:acme/app  one   ada [31m  silent     1         0         0          0        0      -",
        ""
      ].join("\n")
    )
    const json = yield* Effect.promise(() => aicr({}, "health", "-c", config, "--json", "-r", "Main:Acme/App"))
    expect(JSON.parse(json.out)).toEqual({
      rules: [expect.objectContaining({ id: "one", used: 1, judged_accepted: 0, state: "silent" })]
    })
    const none = yield* Effect.promise(() => aicr({}, "health", "-c", config, "-r", "main:acme/other"))
    expect(none.out).toBe("No rule has applied to a review.\n")
  }).pipe(
    Effect.provide(Store.layerSqlite({ path: join(directory, "aicr.db"), migrate: "auto" })),
    Effect.scoped,
    Effect.runPromise
  )
}, 60_000)
