/** The page of a run: what an operator reads for each state, what each role may do, and what strangers wrote. */
import { describe, expect, it } from "vitest"
import type { Output } from "../../../src/dashboard/client/Endpoints.ts"
import { failed, renderPage } from "../RenderPage.ts"
import { finding, inHours, publication, runDetails } from "../Samples.ts"

type RunDetails = Output<"GET /runs/:id">

const render = (fields: Partial<RunDetails> = {}, options: Parameters<typeof renderPage>[2] = {}) =>
  renderPage("/runs/r1", { "GET /runs/:id": runDetails(fields) }, options)

describe("the state of a run", () => {
  it.each([
    ["queued", "wait queued", "wait 排队中"],
    ["preparing", "busy preparing", "busy 准备中"],
    ["analyzing", "busy analyzing", "busy 分析中"],
    ["publishing", "busy publishing", "busy 发布中"],
    ["succeeded", "good succeeded", "good 成功"],
    ["failed", "bad failed", "bad 失败"],
    ["timeout", "bad timed out", "bad 超时"],
    ["cancelled", "quiet cancelled", "quiet 已取消"],
    ["skipped", "quiet skipped", "quiet 已跳过"]
  ] as const)("%s has a tone and a word", async (status, english, chinese) => {
    const [{ states }, other] = [await render({ status }), await render({ status }, { language: "zh-CN" })]
    expect(states).toEqual([english, english])
    expect(other.states).toEqual([chinese, chinese])
  })

  it("is partial only where it succeeded", async () => {
    expect((await render({ partial: true })).states[0]).toBe("warn partial")
    expect((await render({ partial: true, status: "failed" })).states[0]).toBe("bad failed")
  })

  it.each([
    ["succeeded", false, "No problem was found Timeline"],
    ["succeeded", true, "No problem was found in what was read"],
    ["analyzing", false, "Findings are listed when the analysis has ended"],
    ["failed", false, "There are no findings"]
  ] as const)("%s, partial %s: explains why there are no findings", async (status, partial, text) => {
    expect((await render({ status, partial })).text).toContain(text)
  })

  it("a failure has its reason in the colour of a failure, and notices", async () => {
    const { html, text } = await render({
      status: "failed",
      reason: { _tag: "Text", text: "the model is not reachable" },
      notices: [{ _tag: "Text", text: "one file was left" }]
    })
    expect(text).toContain("the model is not reachable")
    expect(text).toContain("one file was left")
    expect(html.includes('class="verdict tone-bad"')).toBe(true)
  })
})

describe("what may be done", () => {
  const actions = async (status: RunDetails["status"], role: "viewer" | "operator") =>
    (await render({ status }, { role })).buttons
      .filter(({ text }) => /Share|Review again|Cancel/.test(text))
      .map(({ isDisabled, text }) => `${isDisabled ? "-" : "+"}${text.replace(/ Your .*/, "")}`)

  it.each([
    ["succeeded", "operator", /\+.*again/i, /Cancel/],
    ["analyzing", "operator", /\+.*Cancel/, /Share/]
  ] as const)("%s, %s", async (status, role, present, absent) => {
    const shown = (await actions(status, role)).join("\n")
    expect(shown).toMatch(present)
    expect(shown).not.toMatch(absent)
  })

  it("a viewer may press nothing that changes something, and reads the role that may", async () => {
    const { buttons } = await render({ status: "analyzing" }, { role: "viewer" })
    const refused = buttons.filter(({ isDisabled }) => isDisabled)
    expect(refused.length).toBeGreaterThan(1)
    for (const { text, title } of refused) {
      expect(title).toContain("needs the role operator")
      expect(text).toContain(title)
    }
    const offered = buttons.filter(({ isDisabled }) => !isDisabled).map(({ text }) => text)
    expect(offered.filter((text) => /Cancel|again|Share/.test(text))).toEqual([])
  })

  it("an administrator may press everything", async () => {
    const { buttons } = await render({ status: "analyzing" })
    expect(buttons.filter(({ isDisabled }) => isDisabled)).toEqual([])
  })
})

describe("findings", () => {
  it("are sorted by severity, each with its place", async () => {
    const { elements, text } = await render({
      findings: [
        finding({ fingerprint: "a", severity: "low", title: "Minor", line: 3, end_line: 3 }),
        finding({ fingerprint: "b", severity: "critical", title: "Severe", line: 4, end_line: 9 })
      ]
    })
    expect(elements("h3").map((one) => one.text)).toEqual(["Severe", "Minor"])
    expect(text).toContain("src/cache.ts:4–9")
    expect(text).toContain("src/cache.ts:3 ")
  })

  it("without a title begin with their message, cut", async () => {
    const { title: _, ...untitled } = finding({ message: "m".repeat(10_000) })
    const { elements } = await render({ findings: [untitled] })
    expect(elements("h3")[0]?.text).toBe("m".repeat(120))
  })

  it("are texts, whatever a stranger wrote", async () => {
    const title = '<b onclick="x">bold</b> & \u202Etxt'
    const { elements, html } = await render({
      title,
      findings: [finding({ title, message: "**strong** [link](javascript:x) <i>y</i>" })]
    })
    expect(elements("h3")[0]?.text.startsWith('<b onclick="x">bold</b> & ')).toBe(true)
    expect(elements("h1")[0]?.text).toContain("U+202E")
    expect(html.includes("<b ") || html.includes("<i>") || html.includes('javascript:x"')).toBe(false)
    expect(elements("strong").map((one) => one.text)).toContain("strong")
  })

  it("link to a web address only", async () => {
    const { links } = await render({
      findings: [
        finding({ fingerprint: "a", url: "https://host.example/c/1" }),
        finding({ fingerprint: "b", url: "javascript:alert(1)" })
      ]
    })
    expect(links.map(({ href }) => href).filter((href) => !href.startsWith("/"))).toEqual(["https://host.example/c/1"])
  })

  it("that only maintainers got are counted and not shown", async () => {
    const { text } = await render({
      private: 2,
      private_findings: [{ digest: "abcdef0123456789", severity: "high" }]
    } as Partial<RunDetails>)
    expect(text).toContain("abcdef012345")
    expect(text).not.toContain("abcdef0123456789")
  })
})

describe("publications", () => {
  it.each([
    ["sent", "good"],
    ["pending", "wait"],
    ["sending", "busy"],
    ["failed", "bad"],
    ["quarantined", "bad"],
    ["unknown", "warn"]
  ] as const)("%s have the tone %s", async (status, tone) => {
    const { states } = await render({ publications: [publication({ status })] })
    expect(states.filter((state) => !state.endsWith("succeeded")).map((state) => state.split(" ")[0])).toEqual([tone])
  })

  it("that failed have their error, the number of attempts and the next one", async () => {
    const { html, text } = await render({
      publications: [
        publication({
          status: "pending",
          attempts: 3,
          error: { _tag: "Text", text: "the host refuses the token" },
          not_before: inHours(2)
        })
      ]
    })
    expect(text).toContain("the host refuses the token")
    expect(text).toMatch(/Failed attempts: 3 in 2h/)
    expect(html.includes('<p class="error-text">the host refuses the token')).toBe(true)
  })

  it("none: the page explains why", async () => {
    expect((await render()).text).toContain("Nothing was posted A run posts when its analysis has ended")
  })
})

describe("numbers", () => {
  it("have units: tokens, cost, duration", async () => {
    const { text } = await render({
      duration_ms: 3_725_000,
      cost_usd: 0.004321,
      models_used: [
        {
          model: "anthropic/claude",
          requests: 12,
          input_tokens: 1_234_567,
          cached_tokens: 1000,
          output_tokens: 89,
          reasoning_tokens: 0,
          cost_usd: null
        }
      ]
    })
    expect(text).toContain("1 h 2 min")
    expect(text).toContain("$0.0043")
    expect(text).toContain("anthropic/claude 12 1,234,567 1,000 89 –")
  })

  it("a cost that is not known is a dash, never zero", async () => {
    expect((await render({ cost_usd: null })).text).toContain("Cost –")
    expect((await render({ cost_usd: 0 })).text).toContain("Cost $0.00")
  })

  it("the timeline has the time of each step and of the whole", async () => {
    const { text } = await render({
      timeline: [
        { at: "2026-01-01T00:00:00.000Z", what: "checkout", depth: 0, duration_ms: 1500 },
        { at: "2026-01-01T00:00:01.500Z", what: "pass", depth: 0, pass: 1, duration_ms: 61_000 },
        { at: "2026-01-01T00:00:02.000Z", what: "model_call", depth: 1, duration_ms: 400, wait_ms: 50, failed: true }
      ]
    })
    expect(text).toContain("1.5 s")
    expect(text).toContain("1 min 1 s")
    expect(text).toContain("400 ms")
    expect(text).toContain("1 min 3 s")
    // Waits of every call are not mentioned.
    expect(text).not.toContain("50 ms")
  })
})

describe("a run without its details", () => {
  it("that is removed keeps its statement for a link with its head", async () => {
    const missing = { "GET /runs/:id": failed(404, { code: "not_found", detail: "no such run" }) }
    const kept = await renderPage("/runs/r1?head=abc", missing)
    expect(kept.buttons.map(({ text }) => text)).toContain("Download")
    const gone = await renderPage("/runs/r1", missing)
    expect(gone.text).toContain("no such run")
    expect(gone.buttons.map(({ text }) => text)).toEqual(["Try again"])
  })

  it("that is loaded shows nothing of another one", async () => {
    const { text, html } = await renderPage("/runs/r1")
    expect(text).toBe("")
    expect(html.includes('role="status"')).toBe(true)
  })

  it("offers a comparison with the run before it only if there is one", async () => {
    const hrefs = async (fields: Partial<RunDetails>) => (await render(fields)).links.map(({ href }) => href)
    expect(await hrefs({ previous: "r0" })).toContain("/runs/r1/compare")
    expect(await hrefs({})).not.toContain("/runs/r1/compare")
  })
})
