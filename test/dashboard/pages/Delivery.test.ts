/** The page of a delivery: what was decided and why, in one sentence, and what became of it. */
import { describe, expect, it } from "vitest"
import type { Output } from "../../../src/dashboard/client/Endpoints.ts"
import { failed, renderPage } from "../RenderPage.ts"
import type { Replies } from "../RenderPage.ts"
import { deliveryDetails, entry, finding, publication, queue, runDetails } from "../Samples.ts"

type Details = Output<"GET /events/:id">

const render = (fields: Partial<Details> = {}, replies: Replies = {}, options: Parameters<typeof renderPage>[2] = {}) =>
  renderPage("/deliveries/d1", { "GET /events/:id": deliveryDetails(fields), ...replies }, options)

const toneOf = (html: string): string | undefined => /class="verdict tone-(\w+)"/.exec(html)?.[1]

describe("the sentence about a delivery", () => {
  it.each([
    [{ decision: "queued" }, "wait"],
    [{ decision: "deferred" }, "wait"],
    [{ decision: "queued", outcome: "executed" }, "good"],
    [{ decision: "queued", outcome: "failed" }, "bad"],
    [{ decision: "queued", outcome: "superseded" }, "wait"],
    [{ decision: "ignored", reason: "draft" }, "warn"],
    [{ decision: "rejected", reason: "invalid_payload" }, "bad"]
  ] as const)("%s has its tone", async (fields, tone) => {
    const [english, chinese] = [await render(fields), await render(fields, {}, { language: "zh-CN" })]
    expect(toneOf(english.html)).toBe(tone)
    expect(toneOf(chinese.html)).toBe(tone)
    expect(chinese.elements("p")[0]?.text).not.toBe(english.elements("p")[0]?.text)
  })

  it("that waits has the reason of its entry, among all entries of the queue", async () => {
    const waits = entry({ events: ["d0", "d1"], why: { _tag: "Text", text: "the workspace is full" } })
    const other = entry({ id: "e2", events: ["d2"], why: { _tag: "Text", text: "another one" } })
    const { links, text } = await render({ workspace: "main" }, { "GET /queue": queue([other, waits]) })
    expect(text).toContain("the workspace is full")
    expect(text).not.toContain("another one")
    expect(links.map(({ href }) => href)).toContain("/queue?workspace=main")
  })

  it("that ended needs no entry", async () => {
    const { requests } = await render({ outcome: "executed" })
    expect(requests.filter(({ endpoint }) => endpoint === "GET /queue")).toEqual([])
  })
})

describe("the run of a delivery", () => {
  const delivered = (run: Parameters<typeof runDetails>[0], fields: Partial<Details> = {}) =>
    render({ outcome: "executed", run_id: "r1", ...fields }, { "GET /runs/:id": runDetails(run) })

  it("names what was posted, without what people do not read", async () => {
    const { links } = await delivered({
      publications: [
        publication({ url: "https://host.example/c/1" }),
        publication({ id: "p2", operation: "Status", url: "https://host.example/status" })
      ]
    })
    const hosts = links.map(({ href }) => href).filter((href) => href.startsWith("https://"))
    expect(hosts).toEqual(["https://host.example/c/1"])
  })

  it("names what was not posted, with the error", async () => {
    const error = { _tag: "Text", text: "403 from the host" } as const
    const { elements } = await delivered({
      publications: [
        publication({ status: "failed", error }),
        publication({ id: "p2", status: "nothing_to_do", error })
      ]
    })
    const errors = elements("p").filter((one) => one.attribute("class") === "error-text")
    expect(errors.map(({ text }) => text)).toHaveLength(1)
    expect(errors[0]?.text).toContain("403 from the host")
  })

  it("does not repeat the reason that the delivery has", async () => {
    const reason = { _tag: "Text", text: "the diff is empty" } as const
    const count = (text: string) => text.split("the diff is empty").length - 1
    expect(count((await delivered({ reason }, { outcome_reason: reason })).text)).toBe(1)
    expect(count((await delivered({ reason })).text)).toBe(1)
  })

  it("with findings has no summary in addition", async () => {
    const skipped = { _tag: "Text", text: "skipped by a rule" } as const
    expect((await delivered({ skipped })).text).toContain("skipped by a rule")
    expect((await delivered({ skipped, findings: [finding()] })).text).not.toContain("skipped by a rule")
  })

  it("that cannot be read is still linked", async () => {
    const { links } = await render(
      { outcome: "executed", run_id: "r1" },
      { "GET /runs/:id": failed(404, { code: "not_found" }) }
    )
    expect(links).toContainEqual({ text: "Run", href: "/runs/r1" })
  })
})

describe("facts", () => {
  it("that are missing have no line", async () => {
    const { action: _, number: __, repo: ___, trigger: ____, ...least } = deliveryDetails()
    const { elements, text } = await renderPage("/deliveries/d1", { "GET /events/:id": least })
    expect(elements("dt").map((one) => one.text)).not.toContain("Author")
    expect(elements("dd").filter((one) => one.text === "")).toEqual([])
    // Without a trigger, the kind of the host is shown.
    expect(text).toContain("gitea")
  })

  it("about duplicates appear with the first one", async () => {
    const terms = async (duplicates: number) =>
      (await render({ duplicates })).elements("dt").map((one) => one.text).length
    expect((await terms(1)) - (await terms(0))).toBe(1)
  })

  it("lead to the delivery that this one repeats", async () => {
    const { links } = await render({ replay_of: "d0" })
    expect(links.map(({ href }) => href)).toContain("/deliveries/d0")
  })
})

it("a viewer reads the decision, and may neither repeat the delivery nor read what the host sent", async () => {
  const { buttons } = await render({}, {}, { role: "viewer" })
  expect(buttons.filter(({ isDisabled }) => isDisabled)).toHaveLength(2)
  expect((await render()).buttons.filter(({ isDisabled }) => isDisabled)).toHaveLength(0)
})

it("a delivery that does not exist is a failure with the words of the service", async () => {
  const { html, text } = await renderPage("/deliveries/d9", {
    "GET /events/:id": failed(404, { code: "not_found", detail: "no delivery d9" })
  })
  expect(html.includes('role="alert"')).toBe(true)
  expect(text).toContain("no delivery d9")
})
