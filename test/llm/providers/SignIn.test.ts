/** Signing in to providers: tokens shared and renewed, profiles of the shared AWS files, what is refused and why. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, Redacted } from "effect"
import { readAwsProfile, findSection } from "../../../src/llm/providers/Bedrock.ts"
import { cachesPrompts } from "../../../src/llm/providers/Bedrock.ts"
import { Gateway } from "../../../src/llm/Gateway.ts"
import { gatewayLayer } from "../../../src/llm/GatewayLayer.ts"
import { shortLivedToken } from "../../../src/llm/providers/ShortLivedToken.ts"
import { startFakeModel } from "../../harness/FakeModel.ts"
import type { Script } from "../../harness/FakeModel.ts"
import type { SignInRules } from "../../harness/FakeModelSignIn.ts"
import { awsKeys } from "../../harness/FakeModelSigV4.ts"
import { testSnapshot } from "../../harness/TestSnapshot.ts"
import { documentFor, env, protocols, publicKey, serviceAccount } from "../Protocols.ts"
import type { ProtocolCase } from "../Protocols.ts"
import { testOwners } from "../../harness/Owners.ts"
import type { Owners } from "../../harness/Owners.ts"

const fakeModel = (script: Script, rules: SignInRules = {}) =>
  Effect.acquireRelease(
    Effect.promise(() => startFakeModel(script, { publicKey, ...rules })),
    (fake) => Effect.promise(() => fake.close())
  )

const protocol = (name: string): ProtocolCase => {
  const found = protocols.find((one) => one.name === name)
  if (found === undefined) throw new Error(`no protocol ${name}`)
  return found
}

/** One snapshot for all calls, as a run has. */
const caller = (document: unknown) => {
  const snapshot = testSnapshot(document, env)
  return Gateway.use((gateway) =>
    gateway.call({
      snapshot,
      group: "default",
      role: "heavy",
      system: "You review.",
      messages: [{ role: "user", text: "the diff" }],
      tools: [],
      deadlineMillis: 20_000
    })
  )
}

const run = <A, E>(effect: Effect.Effect<A, E, Gateway | Owners>) =>
  effect.pipe(Effect.provide([gatewayLayer, Logger.layer([]), testOwners]))

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "aicr-sign-in-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

describe("short-lived tokens", () => {
  it.live.each(["copilot", "vertex_ai with a service account"])("%s: one token for many concurrent calls", (name) =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ text: "hello" })
      const call = caller(documentFor(protocol(name), fake.url))
      yield* Effect.all(
        Array.from({ length: 8 }, () => call),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(fake.signIns.length, 1)
      assert.strictEqual(fake.requests.length, 8)
    }).pipe(Effect.scoped, run)
  )

  it.live.each(["copilot", "vertex_ai with a service account"])("%s: a token near its end is renewed first", (name) =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ text: "hello" }, { lifeSeconds: 100 })
      const call = caller(documentFor(protocol(name), fake.url))
      yield* call
      yield* call
      assert.strictEqual(fake.signIns.length, 2)
      assert.match(String(fake.requests[1]?.headers.authorization), /-token-2$/)
    }).pipe(Effect.scoped, run)
  )

  it("a 401 renews an old token once, and fails with a fresh one", async () => {
    let now = 0
    let issued = 0
    const token = shortLivedToken(
      () => Promise.resolve({ token: `t${++issued}`, expiresAt: now + 1_800_000 }),
      () => now
    )
    const sent: Array<string> = []
    const revoked = (held: { readonly token: string }) => {
      sent.push(held.token)
      return Promise.resolve(new Response(null, { status: held.token === "t1" ? 401 : 200 }))
    }
    assert.strictEqual((await token.use(revoked)).status, 401)
    now += 600_000
    assert.strictEqual((await token.use(revoked)).status, 200)
    assert.deepStrictEqual(sent, ["t1", "t1", "t2"])
  })

  it("a failed exchange is not kept", async () => {
    let tries = 0
    const token = shortLivedToken(() =>
      ++tries === 1 ? Promise.reject(new Error("down")) : Promise.resolve({ token: "t", expiresAt: Date.now() + 1e6 })
    )
    const ok = () => Promise.resolve(new Response())
    await token.use(ok).then(
      () => assert.fail("the first exchange fails"),
      (error: unknown) => assert.match(String(error), /down/)
    )
    assert.isTrue((await token.use(ok)).ok)
  })
})

describe("copilot", () => {
  it.live("sends editor and integration to both addresses, and uses the address in the token", () =>
    Effect.gen(function* () {
      const models = yield* fakeModel({ text: "hello" })
      const exchange = yield* fakeModel({ text: "no" }, { api: models.url })
      // Another origin without https is not followed: the token stays with the configured host.
      yield* caller(documentFor(protocol("copilot"), exchange.url))
      assert.strictEqual(models.requests.length, 0)
      const [sent] = exchange.requests
      for (const { headers } of [exchange.signIns[0], sent].filter((one) => one !== undefined)) {
        assert.match(String(headers["editor-version"]), /^vscode\//)
        assert.strictEqual(headers["copilot-integration-id"], "vscode-chat")
      }
      assert.strictEqual(exchange.signIns[0]?.headers.authorization, "token test-key-123456")
      assert.notInclude(JSON.stringify(sent?.headers), "test-key-123456")
    }).pipe(Effect.scoped, run)
  )

  it.live("a GitHub token that is not accepted is reported", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ text: "hello" })
      const document = documentFor(protocol("copilot"), fake.url, {
        provider: { api_key_env: undefined, api_key: Redacted.make("ghu_wrong-0123456789") }
      })
      const error = yield* Effect.flip(caller(document))
      assert.strictEqual(error.reason, "unauthorized")
      assert.match(error.message, /exchange of the GitHub token.*Bad credentials/)
      assert.notInclude(error.message, "ghu_wrong")
      assert.strictEqual(fake.requests.length, 0)
    }).pipe(Effect.scoped, run)
  )
})

describe("vertex_ai", () => {
  const vertex = (credentials: string, more: Record<string, unknown> = {}) => ({
    ...protocol("vertex_ai with a service account"),
    settings: (url: string) => ({
      base_url: url,
      google_application_credentials: Redacted.make(credentials),
      ...more
    })
  })

  it.live("the key may be a path, and a user's own login needs a project", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ text: "hello" })
      const path = join(yield* folder, "key.json")
      writeFileSync(path, serviceAccount(fake.url))
      yield* caller(documentFor(vertex(path), fake.url))
      const login = {
        type: "authorized_user",
        client_id: "c",
        client_secret: "client-secret-1",
        refresh_token: "refresh-1"
      }
      const error = yield* Effect.flip(caller(documentFor(vertex(JSON.stringify(login)), fake.url)))
      assert.strictEqual(error.reason, "not_configured")
      assert.match(error.message, /vertex_project/)
    }).pipe(Effect.scoped, run)
  )

  it.live.each([
    ["no JSON and no file", "/nowhere/key.json", /cannot be read/],
    ["another kind of key", '{"type":"external_account"}', /neither a service account key/],
    [
      "a broken private key",
      '{"type":"service_account","client_email":"a","private_key":"x","project_id":"p"}',
      /private_key/
    ]
  ] satisfies ReadonlyArray<readonly [string, string, RegExp]>)("%s: nothing is sent", ([, credentials, message]) =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ text: "hello" })
      const error = yield* Effect.flip(caller(documentFor(vertex(credentials), fake.url)))
      assert.strictEqual(error.reason, "not_configured")
      assert.match(error.message, message)
      assert.strictEqual(fake.requests.length, 0)
    }).pipe(Effect.scoped, run)
  )

  it.live("Claude needs more than an API key", () =>
    Effect.gen(function* () {
      const express = { ...protocol("vertex_ai with an API key"), model: "claude-m" }
      const error = yield* Effect.flip(caller(documentFor(express, "http://127.0.0.1:9")))
      assert.strictEqual(error.reason, "not_configured")
      assert.match(error.message, /google_application_credentials_env/)
    }).pipe(run)
  )
})

describe("bedrock", () => {
  it.live("a wrong secret key gives a signature that is refused", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ text: "hello" })
      const document = documentFor(protocol("bedrock with keys"), fake.url, {
        provider: { aws_secret_key_env: undefined, aws_secret_key: Redacted.make("another-secret-key") }
      })
      const error = yield* Effect.flip(caller(document))
      assert.strictEqual(error.reason, "unauthorized")
      assert.match(error.message, /signature does not match/)
    }).pipe(Effect.scoped, run)
  )

  it.live("extra_body is signed with the rest", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ text: "hello" })
      const extra_body = { guardrailConfig: { guardrailIdentifier: "g", guardrailVersion: "1" } }
      yield* caller(documentFor(protocol("bedrock with keys"), fake.url, { provider: { extra_body } }))
      assert.deepInclude(fake.requests[0]?.body, extra_body)
    }).pipe(Effect.scoped, run)
  )

  it("a profile: keys from one file, region from the other; what signs in otherwise is named", async () => {
    const path = mkdtempSync(join(tmpdir(), "aicr-aws-"))
    writeFileSync(
      join(path, "credentials"),
      `[default]\naws_access_key_id = A\naws_secret_access_key = B\n[work]\r\naws_access_key_id=${awsKeys.id}\r\naws_secret_access_key = ${awsKeys.secret}\naws_session_token=s\n`
    )
    writeFileSync(
      join(path, "config"),
      "[profile work]\nregion = eu-west-1\ns3 =\n  region = nested\n[profile sso]\nsso_session = corp\n"
    )
    const files = { AWS_SHARED_CREDENTIALS_FILE: join(path, "credentials"), AWS_CONFIG_FILE: join(path, "config") }
    assert.deepStrictEqual(await readAwsProfile("work", files), {
      accessKeyId: awsKeys.id,
      secretAccessKey: awsKeys.secret,
      sessionToken: "s",
      region: "eu-west-1"
    })
    const problem = (name: string) =>
      readAwsProfile(name, files).then(
        () => "",
        (error: unknown) => String(error)
      )
    assert.match(await problem("sso"), /sso_session/)
    assert.match(await problem("absent"), /has no keys/)
    assert.deepStrictEqual(findSection("[a]\nx=1\n", ["b"]), {})
    rmSync(path, { recursive: true })
  })

  it.live("aws_profile signs requests", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ text: "hello" })
      const path = join(yield* folder, "credentials")
      writeFileSync(
        path,
        `[reviews]\naws_access_key_id=${awsKeys.id}\naws_secret_access_key=${awsKeys.secret}\nregion=eu-central-1\n`
      )
      const before = process.env["AWS_SHARED_CREDENTIALS_FILE"]
      process.env["AWS_SHARED_CREDENTIALS_FILE"] = path
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          if (before === undefined) delete process.env["AWS_SHARED_CREDENTIALS_FILE"]
          else process.env["AWS_SHARED_CREDENTIALS_FILE"] = before
        })
      )
      const profile = {
        ...protocol("bedrock with keys"),
        settings: (url: string) => ({ base_url: url, api_key_env: undefined, aws_profile: "reviews" })
      }
      yield* caller(documentFor(profile, fake.url))
      assert.match(String(fake.requests[0]?.headers.authorization), /\/eu-central-1\/bedrock\//)
    }).pipe(Effect.scoped, run)
  )

  it.each([
    ["eu.anthropic.claude-sonnet-4-5-20250929-v1:0", true],
    ["anthropic.claude-3-7-sonnet-20250219-v1:0", true],
    ["us.amazon.nova-pro-v1:0", true],
    ["anthropic.claude-3-haiku-20240307-v1:0", false],
    ["meta.llama3-70b-instruct-v1:0", false]
  ])("%s takes cache points: %s", (model, expected) => assert.strictEqual(cachesPrompts(model), expected))
})
