import { describe, expect, it } from "vitest"
import { rulesPrompt } from "../../src/review/Prompt.ts"
import { fitRules, maxRuleText, readProjectRule } from "../../src/review/Rules.ts"
import { activeSkills } from "../../src/review/Skills.ts"

const document = `---
id: no-floating-promises
globs: src/**/*.ts, "!x"
severity: high
owner: "@platform"
floor: 0.3
---
# Promises

Await every promise.

## Bad

\`\`\`ts src/save.ts
save(order)
\`\`\`

## Good example

~~~ts
await save(order)
\`\`\`
~~~

## Notes

\`\`\`ts
void save(order)
\`\`\`
`

describe("a rule", () => {
  it("has an id, a scope, a severity, an owner, a floor, its text and examples", () => {
    expect(readProjectRule("file-name", document)).toEqual({
      id: "no-floating-promises",
      digest: expect.stringMatching(/^[0-9a-f]{16}$/),
      severity: "high",
      owner: "@platform",
      floor: 0.3,
      appliesTo: ["src/**/*.ts", "!x"],
      text: "# Promises\n\nAwait every promise.\n\n## Notes\n\n```ts\nvoid save(order)\n```",
      examples: [
        { isGood: false, path: "src/save.ts", language: "ts", code: "save(order)\n" },
        { isGood: true, path: undefined, language: "ts", code: "await save(order)\n```\n" }
      ]
    })
  })

  it("needs only a text", () => {
    expect(readProjectRule("short", "Never log tokens.")).toEqual({
      id: "short",
      digest: expect.any(String),
      severity: "medium",
      appliesTo: undefined,
      text: "Never log tokens.",
      examples: []
    })
  })

  it.each([
    ["a b", "Text", { _tag: "RuleIdInvalid", name: "a b", limit: 64 }],
    ["a", "---\nid: ../x\n---\nText", { _tag: "RuleIdInvalid", name: "../x", limit: 64 }],
    ["a", `---\nid: ${"x".repeat(65)}\n---\nText`, { _tag: "RuleIdInvalid", name: "x".repeat(64), limit: 64 }],
    ["a", "---\nseverity: urgent\n---\nText", { _tag: "RuleSeverityInvalid", name: "urgent" }],
    ["a", "---\nfloor: 30\n---\nText", { _tag: "RuleFloorInvalid", name: "30" }],
    ["a", "---\nfloor: half\n---\nText", { _tag: "RuleFloorInvalid", name: "half" }],
    ["a", "---\nid: a\n---\n## Bad\n```\nx\n```\n", { _tag: "RuleWithoutText" }],
    ["a", "---\nid: a\n---\n", { _tag: "RuleWithoutText" }]
  ])("%s with %j is refused", (name, text, reason) => expect(readProjectRule(name, text)).toEqual(reason))

  it("with another text has another digest", () => {
    const digest = (text: string) => {
      const rule = readProjectRule("a", text)
      return "digest" in rule ? rule.digest : undefined
    }
    expect(digest("Text")).toBe(digest("Text"))
    expect(digest("Text")).not.toBe(digest("Text."))
  })
})

describe("rules in a prompt", () => {
  it("are in the order of their severity, with ids and without examples", () => {
    const rules = [
      { id: "b", severity: "low", text: "Rule\nof b." },
      { id: "c", severity: "critical", text: "Rule of c." },
      { id: "a", severity: "low", text: "Rule of a." }
    ] as const
    expect(rulesPrompt(fitRules(rules).shown)).toMatch(
      /- c \(critical\): Rule of c\.\n- a \(low\): Rule of a\.\n- b \(low\): Rule\n {2}of b\.$/
    )
  })

  it("are cut, and the least severe ones have no room", () => {
    const rules = Array.from({ length: 60 }, (_, at) => ({
      id: `r${at}`,
      severity: at === 59 ? ("critical" as const) : ("low" as const),
      text: "x".repeat(maxRuleText + 1)
    }))
    const { left, shown } = fitRules(rules)
    expect([shown.length, left]).toEqual([48, 12])
    expect(shown[0]).toEqual({ id: "r59", severity: "critical", text: "x".repeat(maxRuleText) })
  })
})

describe("selection", () => {
  const extensions = ["ts", "go", "py", "sql"]
  const folders = Array.from({ length: 25 }, (_, at) => `team${at}`)
  /** 300 rules: of a folder, of a folder and an ending, of an ending, of one file; and always. */
  const rules = Array.from({ length: 300 }, (_, at) => {
    const folder = folders[at % 25] ?? ""
    const extension = extensions[at % 4] ?? ""
    const forms: ReadonlyArray<readonly [string, (path: string) => boolean]> = [
      [`${folder}/**`, (path) => path.startsWith(`${folder}/`)],
      [`${folder}/**/*.${extension}`, (path) => path.startsWith(`${folder}/`) && path.endsWith(`.${extension}`)],
      [`*.{${extension},x${at}}`, (path) => path.endsWith(`.${extension}`) || path.endsWith(`.x${at}`)],
      [`/${folder}/a/f${at % 7}.${extension}`, (path) => path === `${folder}/a/f${at % 7}.${extension}`]
    ]
    const [glob, applies] = forms[at % 5] ?? [undefined, () => true]
    return { name: `rule${at}`, appliesTo: glob === undefined ? undefined : [glob], applies }
  })
  /** The same sequence in each run. */
  const random = (seed: number) => () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648

  it("of 300 rules for 500 changes is exact", () => {
    const next = random(7)
    const pick = <A>(all: ReadonlyArray<A>): A => all[Math.floor(next() * all.length)] as A
    let selected = 0
    for (let change = 0; change < 500; change++) {
      const paths = Array.from(
        { length: 1 + Math.floor(next() * 6) },
        () => `${pick(folders)}/${pick(["a", "b/c"])}/f${Math.floor(next() * 7)}.${pick([...extensions, "md"])}`
      )
      const expected = rules.filter(({ applies }) => paths.some(applies)).map(({ name }) => name)
      const { active, refused } = activeSkills(rules, paths, [])
      expect(active.map(({ name }) => name)).toEqual(expected)
      expect(refused).toEqual([])
      selected += active.length
    }
    expect(selected).toBeGreaterThan(500 * 60)
    expect(selected).toBeLessThan(500 * 240)
  })

  it("refuses a rule with huge patterns, and no other", () => {
    const huge = { name: "huge", appliesTo: Array.from({ length: 50 }, () => `{a,b,c,d}${"x".repeat(190)}`) }
    const { active, refused } = activeSkills([huge, { name: "small", appliesTo: ["*.ts"] }], ["a.ts"], [])
    expect(active.map(({ name }) => name)).toEqual(["small"])
    expect(refused.map(({ name }) => name)).toEqual(["huge"])
  })
})
