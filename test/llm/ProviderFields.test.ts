/** Fields of a provider that change one request: each set in a configuration, observed at the server that gets the request. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Logger } from "effect"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import { Gateway } from "../../src/llm/Gateway.ts"
import type { GatewayRequest } from "../../src/llm/Gateway.ts"
import { gatewayLayer } from "../../src/llm/GatewayLayer.ts"
import { faults, startFakeModel } from "../harness/FakeModel.ts"
import type { Script } from "../harness/FakeModel.ts"
import { awsKeys } from "../harness/FakeModelSigV4.ts"
import { testOwners } from "../harness/Owners.ts"
import type { Owners } from "../harness/Owners.ts"
import { documentFor, env, protocols, publicKey, serviceAccount } from "./Protocols.ts"
import type { ProtocolCase } from "./Protocols.ts"

const fakeModel = (script: Script = { text: "hello", usage: { input: 1_000_000, output: 0, cached: 0 } }) =>
  Effect.acquireRelease(
    Effect.promise(() => startFakeModel(script, { publicKey })),
    (fake) => Effect.promise(() => fake.close())
  )

const protocol = (name: string): ProtocolCase => {
  const found = protocols.find((one) => one.name === name)
  if (found === undefined) throw new Error(`unknown protocol ${name}`)
  return found
}

const call = (document: unknown, variables = {}, more: Partial<GatewayRequest> = {}) =>
  Effect.gen(function* () {
    const snapshot = yield* toSnapshot(document, { ...env, ...variables })
    const gateway = yield* Gateway
    return yield* gateway.call({
      snapshot,
      group: "default",
      role: "any",
      system: "You review.",
      messages: [{ role: "user", text: "the diff" }],
      tools: [],
      deadlineMillis: 20_000,
      ...more
    })
  })

const run = <A, E>(effect: Effect.Effect<A, E, Gateway | Owners>) =>
  effect.pipe(Effect.provide([gatewayLayer, Logger.layer([]), testOwners]))

/** The request that one call makes with these fields. */
const requestWith = (name: string, fields: Record<string, unknown>, variables = {}) =>
  Effect.gen(function* () {
    const fake = yield* fakeModel()
    const base = protocol(name)
    const only = { ...base, settings: (url: string) => ({ base_url: url, ...fields }) }
    yield* call(documentFor(only, fake.url), variables)
    const [request] = fake.requests
    if (request === undefined) return yield* Effect.die("the server got no request")
    return request
  }).pipe(Effect.scoped, run)

describe("credentials of a provider", () => {
  it.live("a literal key is sent", () =>
    Effect.gen(function* () {
      const { headers } = yield* requestWith("anthropic", { api_key: "literal-key-123", api_key_env: undefined })
      assert.strictEqual(headers["x-api-key"], "literal-key-123")
    })
  )

  const byVariables = {
    api_key_env: undefined,
    aws_region: "eu-west-1",
    aws_access_key_env: "AWS_ID",
    aws_secret_key_env: "AWS_SECRET",
    aws_session_token_env: "AWS_SESSION"
  }
  const literal = {
    api_key_env: undefined,
    aws_region: "eu-west-1",
    aws_access_key: awsKeys.id,
    aws_secret_key: awsKeys.secret,
    aws_session_token: "session-written-out"
  }
  const variables = { AWS_ID: awsKeys.id, AWS_SECRET: awsKeys.secret, AWS_SESSION: "session-of-a-variable" }
  it.live.each([
    ["of variables", byVariables, "session-of-a-variable"],
    ["written out", literal, "session-written-out"]
  ] satisfies ReadonlyArray<readonly [string, Record<string, unknown>, string]>)(
    "AWS keys and session token %s sign the request",
    ([, fields, session]) =>
      Effect.gen(function* () {
        const { headers } = yield* requestWith("bedrock with keys", fields, variables)
        assert.match(String(headers.authorization), /^AWS4-HMAC-SHA256 Credential=AKIATESTTESTTESTTEST\//)
        assert.strictEqual(headers["x-amz-security-token"], session)
      })
  )

  it.live.each([["eu-west-1.example/"], ["evil.example/#"], ["a@evil.example:1"], [""]])(
    "no request is sent to a region that would change the host: %j",
    ([region]) =>
      Effect.gen(function* () {
        const exit = yield* Effect.exit(
          requestWith("bedrock with keys", { ...byVariables, aws_region: region }, variables)
        )
        assert.match(JSON.stringify(exit), /aws_region/)
        assert.isTrue(Exit.isFailure(exit))
      })
  )

  it.live("the keys of the AWS profile that is named sign the request", () =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "aicr-profile-"))
      const before = process.env["AWS_SHARED_CREDENTIALS_FILE"]
      process.env["AWS_SHARED_CREDENTIALS_FILE"] = join(folder, "credentials")
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          rmSync(folder, { recursive: true })
          if (before === undefined) delete process.env["AWS_SHARED_CREDENTIALS_FILE"]
          else process.env["AWS_SHARED_CREDENTIALS_FILE"] = before
        })
      )
      writeFileSync(
        join(folder, "credentials"),
        `[default]\naws_access_key_id=OTHER\naws_secret_access_key=other\nregion=us-east-1\n[reviews]\naws_access_key_id=${awsKeys.id}\naws_secret_access_key=${awsKeys.secret}\nregion=eu-central-1\n`
      )
      const { headers } = yield* requestWith("bedrock with keys", { api_key_env: undefined, aws_profile: "reviews" })
      assert.match(String(headers.authorization), /Credential=AKIATESTTESTTESTTEST\/\d+\/eu-central-1\/bedrock\//)
    }).pipe(Effect.scoped)
  )
})

describe("where and how a provider is called", () => {
  it.live("project and location of Vertex are in the path", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel()
      const document = documentFor(protocol("Claude on vertex_ai"), fake.url, {
        provider: {
          vertex_project: "project-7",
          vertex_location: "asia-east1",
          google_application_credentials: serviceAccount(fake.url)
        }
      })
      yield* call(document)
      assert.include(fake.requests[0]?.path, "/projects/project-7/locations/asia-east1/")
    }).pipe(Effect.scoped, run)
  )

  it.live("Anthropic's version and betas are in the headers", () =>
    Effect.gen(function* () {
      const { headers } = yield* requestWith("anthropic", {
        anthropic_version: "2030-01-01",
        anthropic_beta: ["one", "two"]
      })
      assert.deepStrictEqual([headers["anthropic-version"], headers["anthropic-beta"]], ["2030-01-01", "one,two"])
    })
  )

  it.live("a call that takes longer than timeout_ms ends", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel(faults.silent)
      const document = documentFor(protocol("openai_compatible"), fake.url, { provider: { timeout_ms: 200 } })
      const error = yield* Effect.flip(call(document))
      assert.strictEqual(error._tag === "ConfigInvalid" ? error.message : error.reason, "timeout")
    }).pipe(Effect.scoped, run)
  )

  it.live("a prompt beyond context_window is not sent", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel()
      const document = documentFor(protocol("openai_compatible"), fake.url, { provider: { context_window: 1000 } })
      const messages = [{ role: "user", text: "x".repeat(9000) }] as const
      const error = yield* Effect.flip(call(document, {}, { messages }))
      assert.strictEqual(error._tag === "ConfigInvalid" ? error.message : error.reason, "overflow")
      assert.strictEqual(fake.requests.length, 0)
    }).pipe(Effect.scoped, run)
  )
})

describe("the record of the catalog that prices a call", () => {
  const overrides = {
    "vendor/large": { cost: { input: 7, output: 0 } },
    "vendor/m": { cost: { input: 5, output: 0 } }
  }
  it.live.each([
    ["catalog_id", { catalog_id: "vendor/large" }, 7],
    ["catalog_provider", { catalog_provider: "vendor" }, 5],
    ["neither", {}, undefined]
  ] satisfies ReadonlyArray<readonly [string, Record<string, string>, number | undefined]>)(
    "is chosen by %s",
    ([, provider, expected]) =>
      Effect.gen(function* () {
        const fake = yield* fakeModel()
        const llm = { model_catalog: { overrides } }
        const { usage } = yield* call(documentFor(protocol("openai_compatible"), fake.url, { llm, provider }))
        assert.strictEqual(usage.costUsd, expected)
      }).pipe(Effect.scoped, run)
  )
})

describe("reasoning effort of the catalog", () => {
  const effortWith = (record: object, provider: object) =>
    Effect.gen(function* () {
      const fake = yield* fakeModel()
      const llm = { model_catalog: { overrides: { "p/m": record } } }
      yield* call(documentFor(protocol("openai_compatible"), fake.url, { llm, provider: { ...provider } }))
      return /"reasoning_effort":"(\w+)"/.exec(fake.requests[0]?.text ?? "")?.[1]
    }).pipe(Effect.scoped, run)

  it.live("the default effort is sent where the provider sets none", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* effortWith({ default_reasoning_effort: "low" }, {}), "low")
    })
  )
  it.live("an effort that the model does not support becomes the nearest that it does", () =>
    Effect.gen(function* () {
      const supported = { supported_reasoning_efforts: ["low", "medium"] }
      assert.strictEqual(yield* effortWith(supported, { reasoning_effort: "high" }), "medium")
    })
  )
})
