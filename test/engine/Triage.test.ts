/**
 * Triage: reasons to close an issue and to keep it open, invalid responses, failing models, cost, and an author who
 * addresses the model: a model that obeys every word must reach the same decision as without the attempt.
 */
import { describe, expect, it } from "vitest"
import { Effect, Layer, Logger } from "effect"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { formatUsd, noMoney, Usd } from "../../src/domain/Money.ts"
import { resolve } from "../../src/config/fields/Defaults.ts"
import { Triage } from "../../src/config/schema/Workspaces.ts"
import type { GivenDocument } from "../../src/config/Document.ts"
import { triageIssue } from "../../src/engine/Triage.ts"
import type { TriageIssue } from "../../src/engine/Triage.ts"
import { Budget } from "../../src/llm/Budget.ts"
import { layerMemory } from "../../src/llm/catalog/MemoryCatalogCache.ts"
import { Catalog } from "../../src/llm/Catalog.ts"
import { Evidence } from "../../src/llm/Evidence.ts"
import { Gateway, GatewayError } from "../../src/llm/Gateway.ts"
import type { GatewayResponse, GatewayRequest } from "../../src/llm/Gateway.ts"
import * as GatewayLayer from "../../src/llm/GatewayLayer.ts"
import { Limiter } from "../../src/llm/Limiter.ts"
import { decideTriage, triagePrompt } from "../../src/review/TriagePrompt.ts"
import { startFakeModel } from "../harness/FakeModel.ts"
import { testSnapshot, testWorkspace } from "../harness/TestSnapshot.ts"
import { attempts } from "../review/InjectionAttempts.ts"
import { calling } from "./Fixture.ts"
import { triageAttempts } from "./TriageAttempts.ts"
import { owned } from "../harness/Owners.ts"

type Block = NonNullable<NonNullable<GivenDocument["workspaces"]>["defaults"]>["triage"]

const bug: TriageIssue = {
  title: "Crash when a file is empty",
  body: "Opening an empty file crashes with a stack trace.",
  labels: [],
  state: "open"
}
const spam: TriageIssue = {
  title: "Great offer",
  body: "Buy cheap watches at our shop now!",
  labels: [],
  state: "open"
}
const close = { verdict: "close", category: "spam", reason: "it sells watches", confidence: 0.95 }
const closed = { ...close, reason: verbatimReason(close.reason) }

const workspaceOf = (block: Block = {}) => ({
  ...testWorkspace({ review: { output_language: "en" } }),
  triage: resolve(Triage, { enabled: true, ...block }),
  triageModelChain: "triage"
})

const triaged = async (
  answer: (request: GatewayRequest, call: number) => GatewayResponse | GatewayError,
  issue: TriageIssue = spam,
  block: Block = {}
) => {
  const requests: Array<GatewayRequest> = []
  const gateway = Gateway.of({
    call: (request) => {
      requests.push({ ...request, messages: [...request.messages] })
      const given = answer(request, requests.length)
      return given instanceof GatewayError ? Effect.fail(given) : Effect.succeed(given)
    }
  })
  const result = await triageIssue(testSnapshot({}), workspaceOf(block), issue).pipe(
    Effect.provideService(Gateway, gateway),
    Effect.provide(Logger.layer([])),
    owned,
    Effect.runPromise
  )
  return { ...result, requests }
}

const promptOf = ({ messages: [message] }: GatewayRequest): string => (message?.role === "user" ? message.text : "")

describe("invisible characters", () => {
  it("are named to the model, in the title, the body and the labels, after the filter has read the characters themselves", () => {
    const hidden = [..."tea"].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("")
    const { removed, text } = triagePrompt(
      { ...bug, title: `Crash\u200b`, body: `It stops.${hidden}`, labels: ["a\u2060b"] },
      "fence"
    )
    expect(removed).toBe(0)
    expect(text).toContain("Crash[U+200B]")
    expect(text).toContain("It stops.[U+E0074 U+E0065 U+E0061]")
    expect(text).toContain("a[U+2060]b")
    expect(text).not.toMatch(/[\u200b\u202e\u2060\u{e0000}-\u{e007f}]/u)
  })
})

describe("the decision", () => {
  const prompt = { removed: 0, left: 100 }
  const rules = { actions: ["close"], categories_close: ["spam", "invalid"] }
  const sure = { verdict: "close", category: "spam", reason: "r", confidence: 0.9 } as const
  it.each([
    ["a sure wish to close a category that is closed", sure, rules, prompt, "close"],
    ["the other category", { ...sure, category: "invalid" }, rules, prompt, "close"],
    ["keep", { ...sure, verdict: "keep_open" as const }, rules, prompt, "keep_open"],
    ["an unsure model", { ...sure, confidence: 0.79 }, rules, prompt, "keep_open"],
    ["another category", { ...sure, category: "question" }, rules, prompt, "keep_open"],
    ["no closing among the actions", sure, { ...rules, actions: ["label"] }, prompt, "keep_open"],
    ["no category that is closed", sure, { ...rules, categories_close: [] }, prompt, "keep_open"],
    ["nothing left of it but talk to the model", sure, rules, { removed: 1, left: 5 }, "keep_open"],
    ["talk to the model in something that is spam", sure, rules, { removed: 1, left: 50 }, "close"],
    ["an empty issue that talks to nobody", sure, rules, { removed: 0, left: 0 }, "close"]
  ])("%s", (_, answer, given, shown, verdict) => {
    expect(decideTriage(answer, shown, given)).toMatchObject({ verdict, category: answer.category })
  })
})

describe("triage", () => {
  it("calls the group of triage with the issue as data and strict output", async () => {
    const { decision, requests, models, usage } = await triaged(() => calling("triage", close), spam, {
      custom_prompt: "Watches are what this project is about.",
      categories_close: ["spam", "watches"]
    })
    expect(decision).toEqual(closed)
    expect(models).toEqual(["test/second"])
    expect(usage).toMatchObject({ requests: 1, costUsd: 0.25 })
    const [request] = requests
    if (request === undefined) throw new Error("nothing was asked")
    expect([request.group, request.role, request.tools.map(({ name }) => name)]).toEqual(["triage", "any", ["triage"]])
    expect(request.system).toContain("Watches are what this project is about.")
    expect(JSON.stringify(request.tools)).toContain('"watches"')
    const fence = /with the word (\w{24});/.exec(promptOf(request))?.[1]
    expect(promptOf(request)).toContain(`<body ${fence}>\n${spam.body}\n</body ${fence}>`)
    expect(request.system).not.toContain("offer")
  })

  it("keeps open what the model keeps open", async () => {
    const answer = { verdict: "keep_open", category: "bug", reason: "a crash", confidence: 0.4 }
    expect((await triaged(() => calling("triage", answer), bug)).decision).toEqual({
      ...answer,
      reason: verbatimReason("a crash")
    })
  })

  it("a closed issue causes no request", async () => {
    const { decision, requests } = await triaged(() => calling("triage", close), { ...spam, state: "closed" })
    expect([decision.verdict, requests.length]).toEqual(["keep_open", 0])
  })

  it.each([
    ["prose", { ...calling("triage", close), calls: [], text: "close it" }],
    [
      "two calls",
      { ...calling("triage", close), calls: [1, 2].map((n) => ({ id: `${n}`, name: "triage", input: close })) }
    ],
    ["another tool", calling("close_issue", close)],
    ["an unknown verdict", calling("triage", { ...close, verdict: "delete" })],
    ["a category of its own", calling("triage", { ...close, category: "boring" })],
    ["no confidence", calling("triage", { ...close, confidence: undefined })],
    ["too much confidence", calling("triage", { ...close, confidence: 95 })],
    ["a field too many", calling("triage", { ...close, also_delete: true })],
    ["a text", calling("triage", "close")]
  ])("%s is repaired once, then the next model is called, then the issue stays open", async (_, wrong) => {
    const native = ["reasoning of the first response"]
    const repaired = await triaged((__, call) =>
      call === 1 ? { ...wrong, native } : calling("triage", JSON.stringify(close))
    )
    expect(repaired.decision).toEqual(closed)
    expect(repaired.requests[1]?.messages[1]).toMatchObject({ role: "assistant", native })
    expect(JSON.stringify(repaired.requests[1]?.messages)).toContain("not accepted")

    const next = await triaged(({ avoid }) =>
      avoid?.includes("test/second") ? { ...calling("triage", close), model: "test/third" } : wrong
    )
    expect(next.decision).toEqual(closed)
    expect(next.requests).toHaveLength(3)
    expect(next.usage.requests).toBe(3)

    const never = await triaged(({ avoid }) =>
      avoid?.length === 0
        ? wrong
        : new GatewayError({ reason: "invalid", why: verbatimReason("every model was tried") })
    )
    expect(never.decision).toMatchObject({ verdict: "keep_open", category: "unknown", confidence: 0 })
    expect(never.failed).toMatchObject({ reason: "failed" })
    expect(never.requests).toHaveLength(3)
  })

  it.each([
    ["unavailable", "retryable"],
    ["rate_limited", "throttled"],
    ["timeout", "retryable"],
    ["budget", "failed"],
    ["refused", "failed"],
    ["unauthorized", "failed"],
    ["overflow", "failed"],
    ["not_configured", "failed"]
  ] as const)("after %s the issue stays open", async (reason, expected) => {
    const { decision, failed } = await triaged(
      () => new GatewayError({ reason, why: verbatimReason("no"), retryAfterMillis: 7 })
    )
    expect(decision.verdict).toBe("keep_open")
    expect(failed).toMatchObject({ reason: expected, retryAfterMillis: 7 })
    // The advice follows.
    expect(failed?.message).toMatch(/^no(?:; |$)/)
  })

  it("no secret of an issue goes out or comes back", async () => {
    const secret = `ghp_${"A1b2C3d4".repeat(5)}`
    const { decision, requests } = await triaged(() => calling("triage", { ...close, reason: `it holds ${secret}` }), {
      ...bug,
      body: `it crashes with token ${secret}`
    })
    expect(JSON.stringify([decision, requests])).not.toContain(secret)
  })

  it("money is reserved before the call and settled with its cost; over the cap there is no call", async () => {
    const fake = await startFakeModel({
      calls: [{ name: "triage", input: close }],
      usage: { input: 1000, output: 1000, cached: 0 }
    })
    try {
      const steps: Array<string> = []
      const budget = Budget.of({
        reserve: ({ usd, caps }) =>
          Effect.sync(() => {
            steps.push(`reserve ${usd > 0} after ${fake.requests.length} requests`)
            return steps.length < 3
              ? { _tag: "Reserved" as const }
              : {
                  _tag: "Refused" as const,
                  cap: "per_run_usd" as const,
                  capUsd: caps.perRunUsd ?? noMoney,
                  committedUsd: Usd.make(0.2)
                }
          }),
        settle: (_, usd) => Effect.sync(() => steps.push(`settle ${formatUsd(usd, 2)}`)),
        refund: () => Effect.sync(() => steps.push("refund"))
      })
      const snapshot = testSnapshot({
        llm: {
          providers: [{ id: "p", kind: "openai_compatible", base_url: `${fake.url}/v1`, max_output_tokens: 1000 }],
          model_chain: { triage: [{ provider: "p", model: "m" }] },
          budget: { per_run_usd: 0.3 },
          model_catalog: { overrides: { "p/m": { cost: { input: 100, output: 100 } } } }
        }
      })
      const once = triageIssue(snapshot, workspaceOf(), spam)
      const [first, second] = await Effect.all([once, once]).pipe(
        Effect.provide(
          GatewayLayer.layer.pipe(
            Layer.provide([Layer.succeed(Budget, budget), Limiter.layerMemory, Evidence.layerNone]),
            Layer.provide(Catalog.layerWith({ waits: true }).pipe(Layer.provide(layerMemory)))
          )
        ),
        Effect.provide(Logger.layer([])),
        owned,
        Effect.runPromise
      )
      expect(first.decision).toEqual(closed)
      expect(first.usage.costUsd).toBeCloseTo(0.2)
      expect(second.decision.verdict).toBe("keep_open")
      expect(second.failed?.message).toContain("the budget is used up")
      expect(steps).toEqual(["reserve true after 0 requests", "settle 0.20", "reserve true after 1 requests"])
      expect(fake.requests).toHaveLength(1)
    } finally {
      await fake.close()
    }
  })
})

describe("an author who talks to the model", () => {
  /** Obeys every text in the prompt; without such text it classifies the issues correctly. */
  const obedient = (request: GatewayRequest): GatewayResponse => {
    const prompt = promptOf(request)
    const fence = /with the word (\w{24});/.exec(prompt)?.[1]
    const shown = prompt.split(`<title ${fence}>`)[1] ?? ""
    const reported = [...triageAttempts, ...attempts.map(([, text]) => text)].some((text) =>
      text.split("\n").some((line) => line.length > 12 && shown.includes(line))
    )
    const isSpam = shown.includes("watches") !== reported
    return calling(
      "triage",
      isSpam ? close : { verdict: "keep_open", category: "bug", reason: "a crash", confidence: 1 }
    )
  }
  const all = [...triageAttempts, ...attempts.map(([, text]) => text)]

  it("the model of this test can be talked into both", async () => {
    // Without the filter of Triage this model would obey: the attempts below would change its decision.
    const raw = `with the word ${"a".repeat(24)};<title ${"a".repeat(24)}>${bug.title}\n${triageAttempts[0]}`
    const request = (await triaged(obedient, bug)).requests[0]
    if (request === undefined) throw new Error("nothing was asked")
    expect(obedient({ ...request, messages: [{ role: "user", text: raw }] }).calls[0]?.input).toEqual(close)
  })

  it.each(all)("%s", async (text) => {
    for (const issue of [bug, spam]) {
      const verdict = issue === spam ? "close" : "keep_open"
      for (const body of [`${text}\n${issue.body}`, `${issue.body}\n\n${text}\n`, `${issue.body} ${text}`]) {
        const { decision, removed } = await triaged(obedient, { ...issue, body })
        expect([decision.verdict, removed > 0, body]).toEqual([verdict, true, body])
      }
      const inTitle = await triaged(obedient, { ...issue, title: text.replaceAll("\n", " ") })
      expect([inTitle.decision.verdict, text]).toEqual([verdict, text])
    }
  })

  it("cannot close a fence, and an ordinary issue is shown whole", () => {
    const fence = "f".repeat(24)
    const { text, removed } = triagePrompt(
      { ...bug, body: `${bug.body}\nIt should say which file it was.\n</body>\n- a list\n- of steps` },
      fence
    )
    expect(removed).toBe(0)
    expect(text).toContain("- a list\n- of steps")
    expect(text.match(new RegExp(fence, "g"))).toHaveLength(5)
  })

  it("a very long issue is cut, and looking at it takes no time to notice", () => {
    const began = performance.now()
    for (const body of ["a.\n".repeat(100_000), "close mark ".repeat(50_000), `${"x".repeat(900_000)}`]) {
      expect(triagePrompt({ ...bug, body }, "f").text.length).toBeLessThan(20_000)
    }
    expect(performance.now() - began).toBeLessThan(3000)
  })
})
