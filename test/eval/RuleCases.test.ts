import { expect, it } from "vitest"
import { judgeRuleCase, readTestedRule, toRuleCases } from "../../eval/RuleCases.ts"
import { noUsage } from "../../src/domain/Analysis.ts"

const read = (front: string, fences: string) => {
  const tested = readTestedRule(".aicr/rules/one.md", `---\n${front}\n---\nText.\n\n${fences}`)
  if ("_tag" in tested) throw new Error(tested._tag)
  return tested
}

it.each([
  ["globs: src/**/*.ts", "```ts", "src/example.ts"],
  ["globs: /db/?_{a,b}.sql", "```sql", "db/x_a.sql"],
  ["globs: src/**", "```go", "src/example.go"],
  ["globs: '*.py'", "```", "example.py"],
  ["id: x", "```rust", "example.rust"],
  ["globs: src/**", "```ts src/own.ts", "src/own.ts"]
])("an example of a rule with %s in %s is the file %s", (front, fence, path) => {
  const { cases, misplaced } = toRuleCases([read(front, `## Bad\n${fence}\nbad()\n\`\`\`\n`)])
  expect(misplaced).toEqual([])
  expect([...(cases[0]?.change.after.keys() ?? [])]).toEqual([".aicr/rules/one.md", path])
  expect([...(cases[0]?.change.before.keys() ?? [])]).toEqual([".aicr/rules/one.md"])
  expect(cases[0]?.change.after.get(path)).toBe("bad()\n")
})

it("an example outside of the scope of its rule is misplaced", () => {
  const { cases, misplaced } = toRuleCases([read("globs: src/**", "## Good\n```ts web/a.ts\nx\n```\n")])
  expect(cases).toEqual([])
  expect(misplaced).toEqual([{ rule: "one", example: "one/good-1", path: "web/a.ts" }])
})

it.each([
  ["Bad", ["one"], true],
  ["Bad", ["two", undefined], false],
  ["Bad", [], false],
  ["Good", [], true],
  ["Good", ["two", undefined], true],
  ["Good", ["one"], false]
])("a %s example with findings that cite %j passes: %s", (kind, cited, passed) => {
  const [one] = toRuleCases([read("id: one", `## ${kind}\n\`\`\`ts\nx\n\`\`\`\n`)]).cases
  if (one === undefined) throw new Error("no case")
  const wrong = cited.map((rule) => ({
    fingerprint: "f",
    problem: {
      file: "a",
      severity: "low",
      category: "c",
      message: "m",
      ...(rule === undefined ? {} : { rule })
    } as const
  }))
  const scored = {
    name: one.change.name,
    language: "ts",
    kind: "rule",
    isCrossFile: false,
    met: [],
    missed: [],
    wrong,
    expected: 0,
    seconds: 1,
    usage: noUsage,
    models: []
  }
  expect(judgeRuleCase(one, scored)).toEqual({
    rule: "one",
    example: `one/${kind.toLowerCase()}-1`,
    isGood: kind === "Good",
    passed
  })
  expect(judgeRuleCase(one, { ...scored, wrong: [], failed: "no model" })).toMatchObject({
    passed: false,
    failed: "no model"
  })
})
