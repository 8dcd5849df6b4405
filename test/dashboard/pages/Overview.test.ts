/** The first page: nothing needs attention in an installation that works, and each fault has one line with a link. */
import { describe, expect, it } from "vitest"
import { renderPage } from "../RenderPage.ts"
import type { Replies } from "../RenderPage.ts"
import { hoursAgo, inHours, listedRun, node, page, queue, trigger } from "../Samples.ts"

const works: Replies = {
  "GET /runs": page(),
  "GET /queue": queue([]),
  "GET /nodes": { items: [node()], warnings: [] },
  "GET /triggers": { items: [trigger()] },
  "GET /budgets": { items: [], per_run_limit_usd: null },
  "GET /chat/connections": { items: [] },
  "GET /rejected-signatures": { items: [] },
  "GET /events/reasons": { items: [] },
  "GET /stats/timeline": []
}

const attention = async (faults: Replies) => {
  const { links } = await renderPage("/", { ...works, ...faults })
  const before = (await renderPage("/", works)).links.map(({ href, text }) => `${href} ${text}`)
  return links.filter(({ href, text }) => !before.includes(`${href} ${text}`))
}

describe("attention", () => {
  it("needs nothing while everything works", async () => {
    expect(await attention({})).toEqual([])
  })

  it.each<readonly [name: string, faults: Replies, text: RegExp, href: RegExp]>([
    [
      "a refused configuration",
      {
        "GET /nodes": {
          items: [node({ refused: [{ source: "file", name: "a.yaml", errors: 1, line: 3 }] })],
          warnings: []
        }
      },
      /a\.yaml:3/,
      /^\/nodes$/
    ],
    [
      "a node behind the others",
      { "GET /nodes": { items: [node({ differs: ["version"] })], warnings: [] } },
      /node-1/,
      /^\/nodes$/
    ],
    [
      "a refused credential",
      { "GET /triggers": { items: [trigger({ waiting_publications: 3 })] } },
      /gitea.*3|3.*gitea/,
      /^\/setup$/
    ],
    ["a silent trigger", { "GET /triggers": { items: [trigger({ deliveries_24h: 0 })] } }, /gitea/, /^\/setup$/],
    [
      "a chat connection that fails",
      {
        "GET /chat/connections": {
          items: [
            { id: "feishu-1", kind: "feishu", enabled: true, receives: "callback", state: "failing", open_requests: 0 }
          ]
        }
      },
      /feishu-1/,
      /^\/chat$/
    ],
    [
      "a budget that is used up",
      {
        "GET /budgets": {
          items: [
            {
              scope: "repository",
              name: "acme/app",
              window: "day",
              limit_usd: 2,
              spent_usd: 1.5,
              reserved_usd: 0.5,
              resets_at: inHours(5)
            }
          ],
          per_run_limit_usd: null
        }
      },
      /acme\/app/,
      /^\/configuration$/
    ],
    [
      "a repository that is not configured",
      {
        "GET /events/reasons": {
          items: [{ decision: "ignored", reason: "repository_not_configured", count: 1200, last_at: hoursAgo(1) }]
        }
      },
      /1,200/,
      /^\/deliveries\?decision=ignored&reason=repository_not_configured$/
    ]
  ])("%s has a line that leads to the page about it", async (_, faults, text, href) => {
    const lines = (await attention(faults)).filter((link) => text.test(link.text))
    expect(lines.map((link) => href.test(link.href))).toEqual([true])
  })
})

describe("failed runs", () => {
  const failedRun = (id: string, text: string) =>
    listedRun({ id, status: "failed", reason: { _tag: "Text", text }, created_at: hoursAgo(3) })

  it("of one cause are one line with the number of the others", async () => {
    const { elements, text } = await renderPage("/", {
      ...works,
      "GET /runs": ({ query }) =>
        query?.status === "failed,timeout"
          ? page(failedRun("r1", "no model"), failedRun("r2", "no model"), failedRun("r3", "no model"))
          : page()
    })
    expect(text).toContain("no model")
    expect(
      elements("strong")
        .map((one) => one.text)
        .filter((one) => one.includes("2"))
    ).toHaveLength(1)
  })

  it("none: each list has a sentence of its own", async () => {
    const { elements } = await renderPage("/", works)
    const empty = elements("p").filter((one) => one.attribute("class") === "empty-title")
    expect(empty).toHaveLength(4)
    expect(new Set(empty.map((one) => one.text)).size).toBe(4)
  })
})

it("a part that cannot be read does not take the others with it", async () => {
  const { html, text } = await renderPage("/", {
    ...works,
    "GET /budgets": { problem: { status: 503, body: { code: "unavailable", detail: "no ledger" } } }
  })
  expect(html.split('role="alert"').length - 1).toBe(1)
  expect(text).toContain("no ledger")
  expect(text).toContain("Waiting")
})
