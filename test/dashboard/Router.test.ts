/**
 * Every page, with every kind of reply that the definition of the administration permits: nothing breaks, nothing is not translated, no text of a
 * stranger becomes an element, no link leads nowhere (RenderPage.ts), and a failed request is reported.
 */
import { describe, expect, it } from "vitest"
import { ForgeKind } from "../../src/domain/Kinds.ts"
import { listRights, webhookFeatures, webhookSetups } from "../../src/domain/WebhookSetup.ts"
import { randomReplies, reads } from "./RandomReplies.ts"
import type { Kind } from "./RandomReplies.ts"
import { failed, renderPage } from "./RenderPage.ts"
import type { Replies } from "./RenderPage.ts"

/** An address of each path. */
const addresses: Readonly<Record<string, ReadonlyArray<string>>> = {
  "/": ["/"],
  "/changes": ["/changes"],
  "/change": ["/change?repo=acme/app&number=5"],
  "/deliveries": ["/deliveries"],
  "/deliveries/$id": ["/deliveries/d1"],
  "/runs": ["/runs"],
  "/runs/$id": ["/runs/r1"],
  "/runs/$id/compare": ["/runs/r1/compare"],
  "/queue": ["/queue", "/queue?tab=batches"],
  "/projects": ["/projects"],
  "/acceptance": ["/acceptance?workspace=w&name=main:acme/app"],
  "/statistics": ["/statistics", "/statistics?window=all&team=core"],
  "/rules": ["/rules"],
  "/nodes": ["/nodes"],
  "/providers": ["/providers"],
  "/setup": ["/setup"],
  "/configuration": ["/configuration", "/configuration?tab=revisions", "/configuration?tab=effective"],
  "/configuration/revisions/$number": ["/configuration/revisions/3"],
  "/chat": ["/chat"],
  "/tokens": ["/tokens"],
  "/audit": ["/audit"]
}
const all = Object.values(addresses).flat()

const plain = (random: () => number): string => `t${Math.floor(random() * 1e6)}`

const markup = '<img src=x onerror="x">&amp;<script>x</script>'
const hostileTexts = [
  markup,
  "javascript:alert(1)",
  "data:text/html,<script>x</script>",
  "a\u202Egnp.exe\u2066\u200B",
  "{id} {=review.exclude} {count|one|many}",
  "__proto__",
  "constructor",
  "x".repeat(10_000),
  "/../..//evil.example",
  "\0\u001B[31m"
]
/** Marks that turn the direction of a text. */
const turned = /[\u202A-\u202E\u2066-\u2069]/
const hostile = (random: () => number): string => hostileTexts[Math.floor(random() * hostileTexts.length)] ?? ""

const complete: Kind = { optional: 1, items: 3, text: plain, seed: 1 }
const kinds: ReadonlyArray<readonly [name: string, kind: Kind]> = [
  ["only what is required", { ...complete, optional: 0 }],
  ["everything that is optional", complete],
  ["some of what is optional", { ...complete, optional: 0.5, seed: 2 }],
  ["lists without items", { ...complete, items: 0 }],
  ["texts of a stranger", { ...complete, text: hostile, seed: 3 }],
  ["other texts of a stranger", { ...complete, optional: 0.7, text: hostile, seed: 4 }]
]

/** Words that are the same in both languages, in addition to addresses and lines of the configuration. */
const names = new Set(["CSV", "JSON", "YAML", "owner/name", "acme/app#5", "queue.cancel", "shadow: false"])

describe.each(all)("%s", (address) => {
  it.each(kinds)("shows replies with %s", async (_, kind) => {
    const { html, texts } = await renderPage(address, randomReplies(kind))
    expect(html === "").toBe(false)
    expect(
      html.match(/<(?:img|script|iframe|object|embed)\b|(?:href|src|action)="\s*(?:javascript|data|vbscript):/i)
    ).toBe(null)
    expect(texts.filter((text) => turned.test(text))).toEqual([])
  })

  it("is Chinese as a whole", async () => {
    const replies = randomReplies(complete)
    const english = new Set((await renderPage(address, replies)).texts)
    const { texts } = await renderPage(address, replies, { language: "zh-CN" })
    // Hosts name their settings in English, too.
    const given = JSON.stringify([address, replies, webhookSetups, webhookFeatures, ForgeKind.literals.map(listRights)])
    const isWord = (text: string): boolean => /[A-Za-z]{3,}/.test(text) && !/^(?:https:\/\/|workspaces:\n)/.test(text)
    const same = texts.filter((text) => english.has(text) && isWord(text) && !names.has(text))
    expect(same.filter((text) => !text.split(/, | · | (?=t\d)/).every((part) => given.includes(part.trim())))).toEqual(
      []
    )
  })

  it("shows a failed request", async () => {
    const refused: Replies = Object.fromEntries(
      reads.map((read) => [read, failed(503, { code: "unavailable", detail: "the database is not reachable" })])
    )
    const { html, text } = await renderPage(address, refused)
    expect(html.includes('role="alert"')).toBe(true)
    expect(text).toContain("the database is not reachable")
    expect(text).toContain("Try again")
  })
})

it("every page of the dashboard is tested", async () => {
  const { paths } = await renderPage("/runs")
  expect(paths.toSorted()).toEqual(Object.keys(addresses).toSorted())
})

it("an address without a page leads to the overview", async () => {
  const { links, text } = await renderPage("/nothing")
  expect(text).toContain("Page not found")
  expect(links).toEqual([{ text: "Overview", href: "/" }])
})
