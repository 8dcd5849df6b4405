/** Templates with more work than their budget end soon, with the name of the limit; others are rendered as Handlebars renders them. */
import Handlebars from "handlebars"
import { Result } from "effect"
import { describe, expect, it } from "vitest"
import * as BuiltIn from "../../../src/outputs/text/BuiltIn.ts"
import { templateProblems } from "../../../src/outputs/SampleRender.ts"
import { compile } from "../../../src/outputs/text/Template.ts"
import { OverBudget, startBudget } from "../../../src/outputs/text/TemplateBudget.ts"
import { testSnapshot } from "../../harness/TestSnapshot.ts"
import { workspace } from "../Fixtures.ts"
import { inEnglish } from "../../../src/text/en.ts"

const view = {
  title: "Title <b>",
  none: undefined,
  no: false,
  zero: 0,
  list: ["a", "b"],
  problems: [
    { title: "first", deep: { message: "m1" } },
    { title: "second", deep: { message: "m2" } }
  ],
  many: Array.from({ length: 1000 }, (_, index) => ({ index })),
  big: "x".repeat(64 * 1024)
}

const render = (source: string): Result.Result<string, string> =>
  Result.mapError(
    Result.flatMap(compile(source), (template) => template(view)),
    ({ isOverBudget, message }) => `${isOverBudget ? "over budget: " : ""}${message}`
  )

const nested = (depth: number, list: string): string =>
  `${`{{#each @root.${list}}}`.repeat(depth)}x${"{{/each}}".repeat(depth)}`

describe("a template is refused by name of the limit, and soon:", () => {
  it.each<readonly [title: string, source: string, expected: string]>([
    ["24 loops over the problems in each other", nested(24, "problems"), "30000 steps"],
    ["four loops over a long list", nested(4, "many"), "30000 steps"],
    ["a loop in another without text", nested(3, "many").replace("x", ""), "30000 steps"],
    ["a loop of a list as a block", "{{#many}}{{#@root.many}}{{/@root.many}}x{{/many}}", "30000 steps"],
    ["a loop in the alternative of a loop", `{{#each none}}{{else}}${nested(3, "many")}{{/each}}`, "30000 steps"],
    [
      "a loop with lookups",
      `{{#each many}}{{#each @root.many}}{{lookup this "index"}}{{/each}}{{/each}}`,
      "30000 steps"
    ],
    [
      "a loop that gives steps back",
      `{{#each many}}{{[\u0000step] -1000000}}${nested(2, "many")}{{/each}}`,
      "30000 steps"
    ],
    ["a large value in a loop", "{{#each many}}{{@root.big}}{{/each}}", "1048576 bytes of text"],
    [
      "a large value in a loop, unescaped",
      "{{#each many}}{{{@root.big}}}{{&@root.big}}{{/each}}",
      "1048576 bytes of text"
    ],
    ["a long text in a loop", `{{#each many}}${"y".repeat(5000)}{{/each}}`, "1048576 bytes of text"],
    ["a long text", "y".repeat(100_000), "at most 65536 are rendered"],
    ["many tags", "{{title}}".repeat(5000), "at most 500 are rendered"],
    ["many blocks", "{{#if title}}{{/if}}".repeat(150), "at most 100 are rendered"],
    ["long chains of conditions", `{{#if no}}${"{{else if no}}".repeat(300)}{{/if}}`, "at most 100 are rendered"],
    ["a long path", `{{title${".b".repeat(30_000)}}}`, "characters in tags"],
    ["nested calls", `{{lookup ${"(lookup ".repeat(300)}}}`, "parentheses"]
  ])("%s", (_title, source, expected) => {
    const before = process.cpuUsage()
    const rendered = render(source)
    const { user } = process.cpuUsage(before)
    expect(rendered).toMatchObject({ _tag: "Failure", failure: expect.stringContaining(expected) })
    expect(rendered).toMatchObject({ failure: expect.stringContaining("over budget: ") })
    expect(user).toBeLessThan(2_000_000)
    // Rendered again, for the next problem of a review, it costs nothing.
    const again = process.cpuUsage()
    expect(render(source)).toEqual(rendered)
    expect(process.cpuUsage(again).user).toBeLessThan(100_000)
  })

  it.each([
    ["a partial", "{{> other}}", "PartialStatement is not available"],
    [
      "a partial that calls itself twice",
      '{{#*inline "a"}}{{> a}}{{> a}}{{/inline}}{{> a}}',
      "DecoratorBlock is not available"
    ],
    ["the log of the service", "{{log title}}", "log"],
    ["another helper", "{{shout title}}", "shout"]
  ])("%s is not available", (_title, source, expected) => {
    expect(render(source)).toMatchObject({ _tag: "Failure", failure: expect.stringContaining(expected) })
  })
})

describe("counting changes no text:", () => {
  const plain = Handlebars.create()
  const sources = [
    ...Object.values(BuiltIn).filter((value) => typeof value === "string"),
    "{{title}} {{{title}}} {{&title}} {{none}} {{no}} {{zero}} {{list}} {{'title'}} {{[title]}} {{missing.deep}} {{this.title}}",
    "{{#each problems}}{{@index}} {{@first}} {{@last}} {{title}}{{../title}}{{#with deep}}{{message}}{{../title}}{{/with}}{{else}}none{{/each}}",
    "{{#each problems as |p i|}}{{i}}{{p.deep.message}}{{/each}}{{#each this}}{{@key}}{{/each}}",
    "{{#if no}}1{{else if zero}}2{{else if title}}3{{else}}4{{/if}}{{#unless no}}u{{/unless}}{{^none}}inverse{{/none}}",
    "{{#list}}{{.}}{{/list}}{{#none}}never{{/none}}{{#title}}{{this}}{{/title}}{{#problems}}{{title}}{{/problems}}",
    `{{lookup list 1}}{{lookup (lookup problems 0) "title"}}{{#each (lookup this "list")}}{{this}}{{/each}}`,
    "a  {{~title~}}  b\n{{#if title}}\nline\n{{/if}}\n{{!-- no {{tag}} --}}{{! no }}end \\{{raw}}\n",
    "{{#each problems}}\n- {{title}}\n{{/each}}\n"
  ]
  it.each(sources.map((source) => [source.slice(0, 60).replaceAll("\n", " "), source] as const))("%s", (_, source) => {
    const expected = plain.compile(source, { noEscape: true, knownHelpersOnly: true })(view)
    expect(render(source)).toEqual(Result.succeed(expected))
  })
})

it("writes numbers and conditions next to each other as text", () => {
  expect(render("{{#each list}}{{@index}}{{@first}}{{@index}},{{/each}}")).toEqual(Result.succeed("0true0,1false1,"))
})

describe("the templates of a configuration", () => {
  it("are checked in limited time, each text once, however many there are", () => {
    const templates = Object.fromEntries(
      Array.from({ length: 400 }, (_, at) => [`t${at}`, nested(20, "problems") + String(at)])
    )
    const channels = Object.keys(templates).map((summary, at) => ({
      name: `c${at}`,
      kind: "gitea_pr_review" as const,
      templates: { summary }
    }))
    const one = workspace({ templates, channels })
    const snapshot = {
      ...testSnapshot({}),
      workspaces: new Map([
        ["a", one],
        ["b", one]
      ])
    }
    const before = performance.now()
    const issues = templateProblems(snapshot)
    expect(performance.now() - before).toBeLessThan(10_000)
    expect(issues[0]).toMatchObject({
      severity: "error",
      path: "outputs.templates.t0"
    })
    const texts = issues.map(({ reason }) => inEnglish(reason))
    expect(texts[0]).toMatch(/exceeds its budget of 30000 steps.*the built-in template is used/)
    expect(texts.at(-1)).toMatch(/^\d+ templates were not rendered with the example/)
  })
})

it("a template ends when the processor time of its thread is used up", () => {
  let used = 100
  const helpers = startBudget({ steps: 10, bytes: 10, millis: 5 }, () => used)
  const step = () => Object.values(helpers)[0]?.(1, 0)
  used = 105
  expect(step()).toBe("")
  used = 106
  expect(step).toThrow(OverBudget)
  expect(step).toThrow("exceeds its budget of 5 milliseconds of processor time")
})
