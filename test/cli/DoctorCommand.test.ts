/** `aicr doctor` calls each model of each chain, and names those that cannot be used. */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, it } from "vitest"
import { startFakeModel } from "../harness/FakeModel.ts"
import type { FakeModel } from "../harness/FakeModel.ts"
import { addHook, getHooks } from "../harness/FakeHooks.ts"
import { startReadyz } from "./Readyz.ts"
import { repoName, startHost } from "../forge/Clients.ts"
import { temporaryFolder } from "../vcs/Repository.ts"
import { runAicr } from "../harness/RunAicr.ts"

const tokenOfHost = "t0ken-of-the-reviewer"

const doctor = (...args: ReadonlyArray<string>) => doctorWith({}, ...args)

const doctorWith = (env: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
  runAicr(["doctor", ...args], { env: { TEST_TOKEN: tokenOfHost, ...env } })

const configFor = async (models: Readonly<Record<string, FakeModel>>, port: number): Promise<string> => {
  const file = join(temporaryFolder(), "config.yaml")
  const entry = (provider: string) => ({ provider, model: `model-of-${provider}` })
  await writeFile(
    file,
    JSON.stringify({
      server: { port },
      triggers: [{ name: "local", kind: "manual" }],
      workspaces: { instances: { app: { source_repo: { trigger: "local", repo: "local" } } } },
      llm: {
        providers: Object.entries(models).map(([id, { url }]) => ({
          id,
          kind: "openai_compatible",
          base_url: `${url}/v1`,
          api_key: `key-of-${id}`
        })),
        model_chain: { default: Object.keys(models).map(entry), second: [entry("good")] }
      },
      agent: { default: "native-llm" }
    })
  )
  return file
}

/** The tool call that the check of models requests. */
const ready = { calls: [{ name: "report_ready", input: {} }] }

it("each model is called once; one that does not exist and a refused key are errors", async () => {
  await using good = await startFakeModel(ready)
  await using unknown = await startFakeModel({
    status: 404,
    body: JSON.stringify({ error: { message: "The model does not exist" } })
  })
  await using closed = await startFakeModel({
    status: 401,
    body: JSON.stringify({ error: { message: "Incorrect API key" } })
  })
  await using busy = await startFakeModel({
    status: 429,
    body: JSON.stringify({ error: { message: "Rate limit reached" } })
  })
  await using prose = await startFakeModel({ text: "OK, I am ready." })
  const models = { good, unknown, closed, busy, prose }
  await using service = await startReadyz({ status: "not_ready", not_ready: ["store", "nats"] })
  const config = await configFor(models, service.port)
  const { code, out, err } = await doctor("--config", config)
  expect(out).toMatch(/^ok +model good\/model-of-good \(model_chain default, second\) responds, and calls tools$/m)
  expect(out).toMatch(/^error +model prose\/model-of-prose .*: the response is prose instead of tool calls; .*tool/m)
  expect(out).toMatch(/^error +model unknown\/model-of-unknown \(model_chain default\): .*The model does not exist/m)
  expect(out).toMatch(
    /^error +model closed\/model-of-closed \(model_chain default\): the key is refused: check api_key_env/m
  )
  expect(out).toMatch(/^warning +model busy\/model-of-busy \(model_chain default\): .*HTTP 429: Rate limit reached$/m)
  expect(out).toMatch(/^error +the service on port \d+ is not ready: store, nats; its log has the error$/m)
  expect(out + err).not.toContain("key-of-closed")
  expect([code, err]).toEqual([2, expect.stringContaining("4 things need attention")])
  expect(Object.values(models).map(({ requests }) => requests.length)).toEqual([1, 1, 1, 1, 1])

  const offline = await doctor("--config", config, "--offline")
  expect([offline.code, offline.out]).toEqual([0, expect.not.stringMatching(/model-of|the service on/)])
  expect(Object.values(models).map(({ requests }) => requests.length)).toEqual([1, 1, 1, 1, 1])
}, 60_000)

it("reads the webhooks of a repository and the host's log of their deliveries, and prints them as JSON", async () => {
  const { forge } = await startHost("github")
  const url = "https://user:pa55@aicr.test/webhooks/github"
  const list = getHooks(forge, repoName)
  list.mayList = true
  addHook(list, { url, events: ["pull_request", "issue_comment"] })
  list.deliveries = [{ id: 1, status_code: 401, delivered_at: "2026-01-31T12:00:00Z" }]
  const config = join(temporaryFolder(), "config.yaml")
  await writeFile(
    config,
    JSON.stringify({
      server: { base_url: "https://aicr.test" },
      triggers: [{ name: "hub", kind: "github", base_url: forge.url, token_env: "TEST_TOKEN" }],
      workspaces: { instances: { app: { source_repo: { trigger: "hub", repo: repoName } } } }
    })
  )
  const { out, err } = await doctor("--config", config, "--json")
  const { checks } = JSON.parse(out)
  expect(checks).toContainEqual({
    level: "warning",
    text: expect.stringMatching(/^trigger hub on .*: the host's log has 1 failed deliveries .* status 401; the secret/)
  })
  expect(out + err).not.toMatch(new RegExp(`pa55|${tokenOfHost}`))
  const offline = JSON.parse((await doctor("--config", config, "--json", "--offline")).out)
  expect(JSON.stringify(offline.checks)).not.toContain("trigger hub")
  await forge.stop()
}, 60_000)

it("checks on a node of a cluster what the roles of the node use", async () => {
  await using model = await startFakeModel(ready)
  await using service = await startReadyz({ status: "ready" })
  const { forge } = await startHost("gitea")
  const config = join(temporaryFolder(), "config.yaml")
  await writeFile(
    config,
    JSON.stringify({
      server: { port: service.port },
      triggers: [
        { name: "hub", kind: "gitea", base_url: forge.url, token_env: "HOST_TOKEN", webhook_secret_env: "SECRET" }
      ],
      workspaces: { instances: { app: { source_repo: { trigger: "hub", repo: repoName } } } },
      llm: {
        providers: [{ id: "p", kind: "openai_compatible", base_url: `${model.url}/v1`, api_key_env: "MODEL_KEY" }],
        model_chain: { default: [{ provider: "p", model: "m" }] }
      },
      agent: { default: "native-llm" }
    })
  )
  const ingress = await doctorWith({ SVC_ROLES: "ingress,dashboard", SECRET: "s" }, "--config", config)
  expect(ingress.out).toMatch(/^ok +roles ingress, dashboard \(SVC_ROLES\)/m)
  expect(ingress.out).not.toMatch(/MODEL_KEY|HOST_TOKEN|model p|trigger hub|llm provider/)
  expect([ingress.code, model.requests.length]).toEqual([0, 0])

  const executor = await doctorWith({ SVC_ROLES: "executor", HOST_TOKEN: tokenOfHost }, "--config", config)
  expect(executor.out).not.toContain("SECRET")
  expect(executor.out).toMatch(/^warning +llm\.providers\[0\].*MODEL_KEY/m)
  expect(executor.out).toMatch(/^ok +trigger hub on \S+: git reads the repository$/m)
  expect(executor.code).toBe(2)

  // git does not leave out the proxy for hosts on this machine, as the client of the service does.
  const proxied = { SVC_ROLES: "executor", HOST_TOKEN: tokenOfHost, http_proxy: "http://127.0.0.1:9" }
  const proxy = await doctorWith(proxied, "--config", config)
  expect(proxy.out).toMatch(/^error +trigger hub on \S+: git cannot read the repository.*127\.0\.0\.1.*no_proxy/m)
  expect(proxy.out + proxy.err).not.toContain(tokenOfHost)

  const unset = await doctorWith({ SVC_ROLES: "executor", MODEL_KEY: "k" }, "--config", config, "--offline")
  expect(unset.out).toMatch(/^error +trigger hub has no credential for its host or server/m)
  expect(unset.code).toBe(2)

  const unknown = await doctorWith({ SVC_ROLES: "reader" }, "--config", config, "--offline")
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining("unknown role reader")])
  await forge.stop()
}, 60_000)
