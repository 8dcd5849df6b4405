/**
 * Hostile text of a model, a title, a path, a branch or an account is inert: two parsers that are not the one that made the text
 * safe find nothing in our comments that is not ours.
 */
import { describe, expect, it } from "vitest"
import { OperationId } from "../../src/domain/Keys.ts"
import type { Finding } from "../../src/domain/Problem.ts"
import { platforms } from "../../src/outputs/chat/BotMessage.ts"
import { channelTable } from "../../src/outputs/channels/Channels.ts"
import { selectShown } from "../../src/outputs/review/VisibleFindings.ts"
import { cut } from "../../src/outputs/text/Cut.ts"
import { fillAlone } from "../../src/outputs/text/FillSummary.ts"
import { toSummaryProblems } from "../../src/outputs/text/FindingList.ts"
import { parseMarkers } from "../../src/outputs/Marker.ts"
import { renderIssueText, renderProblem, renderSummary } from "../../src/outputs/text/Render.ts"
import type { SuggestionStyle } from "../../src/outputs/text/View.ts"
import { analysis, channel, change, finding, input, workspace } from "./Fixtures.ts"
import { takeSample } from "../harness/Samples.ts"
import { inputs as all, payloads } from "./HostileText.ts"
import { commonmarkFaults, faults, tree } from "./LiveMarkup.ts"
import { verbatimReason } from "../../src/domain/Reason.ts"

/** Each payload in a fifth of the wrappings, each wrapping with a fifth of the payloads. */
const inputs = takeSample("AICR_TEST_TEXTS", all, 5)

const marker = { op: OperationId.make("own"), fp: "f", scope: "s" }
const ownUrl = "http://forge.test/team/shop/pulls/1"

const hostileFinding = (text: string, n = 1): Finding =>
  finding(
    n,
    {
      severity: "high",
      title: text,
      message: text,
      category: text,
      suggestion: text,
      quote: text,
      file: text
    },
    { path: text, side: "new", line: n }
  )

const hostileInput = (text: string) =>
  input([hostileFinding(text), { ...hostileFinding(text, 2), anchor: undefined }].map(withoutUndefined), {
    change: {
      ...change,
      title: text,
      requestedBy: text,
      headRef: text,
      baseRef: text,
      author: { username: text },
      target: { ...change.target, branch: text },
      url: ownUrl
    },
    analysis: analysis([hostileFinding(text), withoutUndefined({ ...hostileFinding(text, 2), anchor: undefined })], {
      summary: text,
      notices: [verbatimReason(text)],
      models: [text],
      coverage: { reviewed: [text], skipped: [{ path: text, reason: "excluded" }], lines: 1 }
    })
  })

const withoutUndefined = ({
  anchor,
  ...rest
}: Omit<Finding, "anchor"> & { readonly anchor?: Finding["anchor"] | undefined }): Finding =>
  anchor === undefined ? rest : { ...rest, anchor }

const renderer = (suggestions: SuggestionStyle) => ({ limit: 60_000, suggestions })

/** Verifies that the text after hostile text is complete. */
const layoutFaults = (body: string): ReadonlyArray<string> => {
  const { children } = tree(body)
  const last = children.at(-1)
  const found: Array<string> = []
  if (last?.type !== "html" || parseMarkers(last.value).length !== 1) found.push("the marker is not the last block")
  if (JSON.stringify(parseMarkers(body)) !== JSON.stringify([marker])) found.push("markers")
  return found
}

const tableFaults = (body: string): ReadonlyArray<string> => {
  const tables = tree(body).children.filter((node) => node.type === "table")
  return tables.length === 0 ? [] : ["a table that is not ours"]
}

const third = (at: number): ReadonlyArray<string> => inputs.filter((_, index) => index % 3 === at % 3)

describe("text from outside is inert", () => {
  it("is tried in enough ways", () => {
    expect(all.length).toBeGreaterThan(1000)
    expect(inputs.length).toBeGreaterThan(200)
  })

  it.each(["lines", "offsets"] as const)("in comments at lines, suggestions as %s", (style) => {
    for (const text of style === "lines" ? inputs : third(0)) {
      const given = hostileInput(text)
      const body = renderProblem(given, channel(), hostileFinding(text), marker, renderer(style))
      expect([...faults(body), ...layoutFaults(body)]).toEqual([])
    }
  })

  it("in summaries", () => {
    for (const text of inputs) {
      const given = hostileInput(text)
      const shares = {
        visible: given.analysis.findings,
        inline: given.analysis.findings.slice(0, 1),
        hidden: 0,
        late: [],
        folded: []
      }
      const settings = channel({ mention_author: true, inline_min_severity: "critical" })
      const rendered = renderSummary(given, settings, shares, marker, renderer("plain"))
      const shown = selectShown(settings, shares.visible, shares.inline, true)
      const style = { language: "en", limit: 60_000, hasHtml: true }
      const body = fillAlone(rendered, toSummaryProblems(given, shown), style)
      expect([...faults(body), ...layoutFaults(body), ...tableFaults(body)]).toEqual([])
    }
  })

  it("in managed issues and their titles", () => {
    const issues = channelTable(() => 60_000).gitea_problem_issue
    for (const text of third(1)) {
      const given = hostileInput(text)
      const body = renderIssueText(given, channel(), hostileFinding(text))
      expect(faults(body, "anywhere")).toEqual([])
      const [planned] = issues.plan(given, channel(), { lineComments: false, summary: true })
      const operation = planned?.operation._tag === "Issues" ? planned.operation : undefined
      const titles = [operation?.title ?? "", ...(operation?.problems ?? []).map(({ title }) => title)]
      expect(titles.filter((title) => /@[\w-]|[\n\u202a-\u202e]/.test(title) || /\w#\d/.test(title))).toEqual([])
    }
  })

  it.each(
    [
      "| a | {{problem.title}} | {{problem.place}} |\n|---|---|---|\n| {{problem.category}} | {{problem.message}} | x |",
      "- {{problem.message}}\n- {{problem.title}}\n\n1. {{problem.suggestion}}",
      "> {{problem.message}}\n>\n> {{problem.place_link}}",
      "<details><summary>{{problem.title}} {{problem.place}}</summary>\n{{problem.message}}\n</details>",
      "```\n{{problem.message}}\n```\n\n~~~text\n{{problem.suggestion}}\n~~~",
      "[{{problem.title}}](http://forge.test/x) **{{problem.message}}**\n{{problem.suggestion_block}}",
      "- {{problem.suggestion_block}}\n> {{problem.code_block}}",
      "Problem: {{problem.message}} Advice: {{problem.suggestion}}",
      "- Problem: {{problem.message}}\n> Problem: {{problem.message}}",
      "**Problem**: {{problem.message}}",
      "### {{problem.title}}\n{{{problem.message}}}\n{{{target.branch}}} {{{event.requested_by}}} {{{vcs.head_ref}}} {{problem.file}}",
      "{{#if problem.suggestion}}```suggestion\n{{problem.suggestion}}\n```{{/if}}\n\n{{problem.suggestion}}"
    ].map((template, at) => [template, at] as const)
  )("in every position of a template of the operator: %j", (template, at) => {
    const own = workspace({ templates: { own: template } })
    const to = channel({ templates: { problem: "own" } })
    // Together the templates see each input three times.
    for (const text of third(at)) {
      const given = { ...hostileInput(text), workspace: own }
      const body = renderProblem(given, to, hostileFinding(text), marker, renderer("lines"))
      const markers = JSON.stringify(parseMarkers(body)) === JSON.stringify([marker]) ? [] : ["markers"]
      expect([...faults(body, "anywhere"), ...markers]).toEqual([])
    }
  })

  it("also where a body is cut", () => {
    for (const [index, text] of takeSample("AICR_TEST_TEXTS", payloads, 5).entries()) {
      const given = hostileInput(text.repeat(5))
      const shares = { visible: given.analysis.findings, inline: [], hidden: 0, late: [], folded: [] }
      const body = renderSummary(given, channel(), shares, marker, renderer("plain"))
      // Each payload is cut at other places.
      for (let limit = 200 + ((index * 53) % 159); limit < body.length; limit += 159) {
        const short = cut(body, limit, "_cut_")
        expect([...commonmarkFaults(short, "anywhere"), ...layoutFaults(short)]).toEqual([])
      }
    }
  })
})

describe("a suggestion", () => {
  const code = "if (a) {\n\n\n  @Test <b> // #1\n}"

  it("is written to the letter", () => {
    const { anchor } = finding(1)
    const given = finding(1, { suggestion: code }, anchor)
    const body = renderProblem(input([given]), channel(), given, marker, renderer("lines"))
    expect(body).toContain(`\`\`\`suggestion\n${code}\n\`\`\``)
  })

  it("also in a fence of the operator's template", () => {
    const given = finding(1, { suggestion: code })
    const own = {
      ...input([given]),
      workspace: workspace({ templates: { own: "```suggestion\n{{problem.suggestion}}\n```" } })
    }
    const body = renderProblem(own, channel({ templates: { problem: "own" } }), given, marker, renderer("lines"))
    expect(body).toContain(`\`\`\`suggestion\n${code}\n\`\`\``)
  })
})

/** Texts of a message that its platform interprets: not the runs of code in Teams. */
const listTexts = (value: unknown): ReadonlyArray<string> =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([key, child]) =>
        key === "text" && typeof child === "string" && !isObjectOf(value, "TextRun", "plain_text")
          ? [child]
          : listTexts(child)
      )

const isObjectOf = (value: object, ...types: ReadonlyArray<string>): boolean =>
  "type" in value && types.some((type) => type === value.type)

describe("chat messages are inert", () => {
  it.each(["feishu_bot", "wecom_bot"] as const)("on %s", (name) => {
    const kind = channelTable(() => 60_000)[name]
    for (const text of inputs) {
      const planned = kind.plan(hostileInput(text), channel({ name, kind: name }), {
        lineComments: false,
        summary: true
      })
      for (const { operation } of planned) {
        if (operation._tag !== "Chat") throw new Error("not a message")
        const { body } = operation
        // Tags of either platform, and links whose target is not ours, in code too.
        expect(body.match(/<[a-z/@!?]|<at|@all|\]\((?!http:\/\/forge\.test\/)/gi) ?? []).toEqual([])
        const outside = body.replace(/```[\s\S]*?```|`[^`]*`/g, "").replaceAll(/\]\([^)]*\)/g, "")
        expect(outside.match(/@[\w-]|https?:\/\//g) ?? []).toEqual([])
      }
    }
  })

  it.each(["slack_webhook", "teams_webhook"] as const)("on %s, in the sent request", (name) => {
    const kind = channelTable(() => 60_000)[name]
    for (const text of third(name === "slack_webhook" ? 0 : 1)) {
      const planned = kind.plan(hostileInput(text), channel({ name, kind: name, webhook_url_env: "HOOK" }), {
        lineComments: false,
        summary: true
      })
      for (const { operation } of planned) {
        if (operation._tag !== "Chat") throw new Error("not a message")
        const { body, severity, title } = operation
        const message: object = platforms[name].message({ title, body, severity })
        const texts = listTexts(message)
        // Slack: what is in angle brackets is a link or a mention. Teams: only links, and addresses as text.
        const found =
          name === "slack_webhook"
            ? texts.flatMap((one) => one.match(/<(?!http:\/\/forge\.test\/)[^>]*>?/g) ?? [])
            : texts.flatMap(
                (one) => one.match(/\]\((?!http:\/\/forge\.test\/)|(?<!\]\()https?:\/\/|<at|\bwww\.\w/gi) ?? []
              )
        expect(found).toEqual([])
      }
    }
  })

  it("mentions no one by the name of an author or a title", () => {
    const people = { author: "<at id=all></at>", everyone: false, mobiles: [] }
    for (const { mention, message } of Object.values(platforms)) {
      expect(mention(people)).not.toMatch(/<(at|@)/)
      const { title, body } = { title: "<at id=all></at> <@all> @all", body: "" }
      // The title of a card, that of a signed webhook and the subject of an e-mail are plain text.
      const sent = JSON.stringify(message({ title, body, severity: undefined }))
        .replace(/plain_text.*?}/, "")
        .replace(/"(?:title|subject)":".*?"/, "")
      expect(sent).not.toMatch(/<(at|@)/)
    }
  })
})
