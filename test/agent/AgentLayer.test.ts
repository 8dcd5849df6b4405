/** The configured mode in which a review is executed. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { Agent } from "../../src/agent/Agent.ts"
import { nativeAgentLayer } from "../../src/agent/AgentLayer.ts"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import { gatewayLayer } from "../../src/llm/GatewayLayer.ts"
import { startFakeModel } from "../harness/FakeModel.ts"
import { testOwners } from "../harness/Owners.ts"
import { fakeCheckout, fakeCode } from "./FakeCheckout.ts"

const fakeModel = Effect.acquireRelease(
  Effect.promise(() => startFakeModel({ text: "nothing to report" })),
  (fake) => Effect.promise(() => fake.close())
)

/** Whether a review with this configuration calls the model, and why it fails. */
const analyse = (agent: object, own: object = {}) =>
  Effect.gen(function* () {
    const fake = yield* fakeModel
    const snapshot = yield* toSnapshot(
      {
        agent,
        triggers: [{ name: "hub", kind: "github", webhook_secret: "s" }],
        llm: {
          providers: [{ id: "p", kind: "openai_compatible", base_url: `${fake.url}/v1` }],
          model_chain: { default: [{ provider: "p", model: "m" }] }
        },
        workspaces: { instances: { app: { source_repo: { trigger: "hub", repo: "acme/app" }, agent: own } } }
      },
      {}
    )
    const workspace = snapshot.workspaces.get("app")
    if (workspace === undefined) return yield* Effect.die("no workspace")
    const brief = {
      snapshot,
      workspace,
      system: "You review.",
      prompt: "the diff",
      checkout: fakeCheckout({}),
      code: fakeCode
    }
    const message = yield* Agent.use((mode) => mode.analyse(brief)).pipe(
      Effect.match({ onSuccess: () => "", onFailure: (error) => error.message })
    )
    return { calls: fake.requests.length > 0, message }
  }).pipe(
    Effect.scoped,
    Effect.provide([nativeAgentLayer.pipe(Layer.provide(gatewayLayer)), Logger.layer([]), testOwners])
  )

it.live("agent.default: native-llm calls the model", () =>
  Effect.gen(function* () {
    assert.isTrue((yield* analyse({ default: "native-llm" })).calls)
  })
)

it.live("agent.default of a workspace goes before the global one", () =>
  Effect.gen(function* () {
    assert.isTrue((yield* analyse({ default: "codex" }, { default: "native-llm" })).calls)
    const other = yield* analyse({ default: "native-llm" }, { default: "codex" })
    assert.isFalse(other.calls)
    assert.match(other.message, /agent mode codex/)
  })
)
