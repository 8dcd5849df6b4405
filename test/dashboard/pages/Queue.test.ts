/** The queue: why entries wait, who may change them, and what the filters request. */
import { describe, expect, it } from "vitest"
import type { Output } from "../../../src/dashboard/client/Endpoints.ts"
import { renderPage } from "../RenderPage.ts"
import type { Replies } from "../RenderPage.ts"
import { entry, hoursAgo, inHours, queue } from "../Samples.ts"

const render = (reply: Output<"GET /queue">, address = "/queue", options: Parameters<typeof renderPage>[2] = {}) => {
  const replies: Replies = {
    "GET /queue": reply,
    "GET /queue/causes": { items: [], more: false },
    "GET /config/options/:source": { items: ["main", "tools"] }
  }
  return renderPage(address, replies, options)
}

describe("entries", () => {
  it.each([
    ["waiting", "wait waiting"],
    ["ready", "wait ready"],
    ["running", "busy running"],
    ["dead", "bad failed for good"],
    ["superseded", "quiet superseded"],
    ["cancelled", "quiet cancelled"],
    ["expired", "warn expired"],
    ["done", "good done"]
  ] as const)("that are %s: %s", async (status, state) => {
    expect((await render(queue([entry({ status })]))).states).toEqual([state])
  })

  it("say why they wait, until when and at which place", async () => {
    const { text } = await render(queue([entry({ position: 3, until: inHours(2) })]))
    expect(text).toMatch(/No. 3 in 2h · waits for its turn/)
  })

  it("that run have no time at which the wait ends", async () => {
    const { text } = await render(queue([entry({ status: "running", until: inHours(2) })]))
    expect(text).not.toContain("in 2h")
  })

  it("link to the runs of their change and are named by it", async () => {
    const { links } = await render(queue([entry()]))
    expect(links).toContainEqual({ text: "acme/app#5", href: "/runs?target=gitea%3Aacme%2Fapp%235" })
  })

  it("none: the page leads to the runs", async () => {
    const { links, text } = await render(queue([]))
    expect(text).toContain("Nothing waits")
    expect(links.map(({ href }) => href)).toContain("/runs")
  })
})

describe("actions", () => {
  const by_status = { ...queue([]).by_status, waiting: 2, dead: 4 }

  it("on all entries are offered if there are some", async () => {
    const offered = async (reply: Output<"GET /queue">, address?: string) =>
      (await render(reply, address)).buttons.filter(({ text }) => /^(?:Cancel|Retry) /.test(text)).length
    expect(await offered(queue([entry()], { by_status }))).toBe(2)
    expect(await offered(queue([]))).toBe(0)
    // Words and times are no filter of an action.
    expect(await offered(queue([entry()], { by_status }), "/queue?q=cache")).toBe(0)
  })

  it("on selected entries concern those alone that they change", async () => {
    const { buttons, text } = await render(
      queue([entry(), entry({ id: "e2", status: "dead" }), entry({ id: "e3", status: "done" })], { by_status }),
      "/queue?selected=e1,e3"
    )
    expect(text).toContain("2 selected")
    expect(
      buttons.filter(({ text: label }) => /^(?:Cancel|Retry) /.test(label)).map(({ text: label }) => label)
    ).toEqual(["Cancel 1"])
  })

  it("a viewer may neither pause, resume nor cancel", async () => {
    const pauses = [
      { scope: "workspace", name: "main", reason: { _tag: "Text", text: "upgrade" }, since: hoursAgo(1) }
    ] as const
    const reply = queue([entry()], { by_status, pauses })
    const disabled = async (role: "viewer" | "operator") =>
      (await render(reply, "/queue", { role })).buttons.filter(({ isDisabled }) => isDisabled).length
    expect(await disabled("viewer")).toBe(4)
    expect(await disabled("operator")).toBe(0)
  })

  it("a pause has its reason as text", async () => {
    const reason = { _tag: "Text", text: "<u>upgrade</u>" } as const
    const { elements } = await render(
      queue([], { pauses: [{ scope: "node", name: "node-1", reason, since: hoursAgo(1) }] })
    )
    expect(elements("q").map(({ text }) => text)).toEqual(["<u>upgrade</u>"])
  })
})

describe("filters of the address", () => {
  const requested = async (address: string) =>
    (await render(queue([]), address)).requests.find(
      ({ endpoint, query }) => endpoint === "GET /queue" && query !== undefined
    )?.query

  it.each([
    ["/queue?status=dead&workspace=main&q=cache", { status: "dead", workspace: "main", q: "cache" }],
    ["/queue?sort=-admitted", { sort: "-admitted" }],
    ["/queue?sort=cost&other=1", {}],
    ["/queue?since=2026-01-01T00:00:00.000Z", { since: "2026-01-01T00:00:00.000Z" }]
  ])("%s", async (address, expected) => {
    const query = await requested(address)
    expect(Object.fromEntries(Object.entries(query ?? {}).filter(([, value]) => value !== undefined))).toEqual(expected)
  })
})

it("causes of waits are grouped, without those that end by themselves", async () => {
  const cause = { status: "waiting", count: 1200, workspaces: 3, oldest_at: hoursAgo(30) } as const
  const { text } = await renderPage("/queue", {
    "GET /queue": queue([]),
    "GET /queue/causes": {
      items: [
        { ...cause, cause: "AwaitsCredential", why: { _tag: "Text", text: "no token" } },
        { ...cause, cause: "AwaitsTurn", why: { _tag: "Text", text: "in turn" } }
      ],
      more: true
    }
  })
  expect(text).toContain("1,200 no token")
  expect(text).toContain("10,000")
  expect(text).not.toContain("in turn")
})
