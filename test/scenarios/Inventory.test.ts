/**
 * The inventory of a running service: webhooks of new repositories within a minute, and one webhook for each repository however often the
 * process is killed while it creates them. AICR_TEST_CATCH_UP=all kills it 50 times instead of five.
 */
import { expect, it, onTestFinished } from "vitest"
import { DownHost } from "../harness/DownHost.ts"
import { getHooks } from "../harness/FakeHooks.ts"
import { isWhole } from "../harness/Samples.ts"
import { waitUntil } from "../harness/Wait.ts"

const kills = isWhole("AICR_TEST_CATCH_UP") ? 50 : 5
const address = "https://aicr.test/webhooks/gitea"

const startService = async () => {
  const host = await DownHost.start("gitea", {
    server: { base_url: "https://aicr.test" },
    trigger: { inventory: { hooks: "create" } },
    workspace: { match: [{ source: { repo_ref: { glob: "team/*" } } }] }
  })
  onTestFinished(() => host[Symbol.asyncDispose]())
  return host
}

it(
  "a process that is killed while it creates webhooks creates one for each repository",
  async () => {
    const host = await startService()
    const { aicr, forge } = host
    await aicr.stop()
    const names = ["team/one", ...Array.from({ length: kills * 4 + 3 }, (_, n) => `team/repo-${n}`)]
    for (const name of names.slice(1)) await forge.createRepository(name)
    for (const name of names) Object.assign(getHooks(forge, name), { mayList: true, mayWrite: true })
    for (let n = 0; n < kills; n++) {
      let killed: Promise<unknown> | undefined
      let writes = 0
      forge.intercept(({ method, path }) => {
        if (method !== "POST" || !path.endsWith("/hooks") || ++writes <= n % 4) return undefined
        killed ??= aicr.kill()
        // The host executes the request of a process that has died, or never gets it.
        return n % 2 === 0 ? { kind: "slow", millis: 30 } : { kind: "cut" }
      })
      await aicr.start()
      await waitUntil(() => killed !== undefined, {
        timeout: 60_000,
        describe: () => `a webhook is created after kill ${n}; the log says:\n${aicr.log}`
      })
      await killed
    }
    forge.intercept(() => undefined)
    await aicr.start()
    const found = () => names.map((name) => getHooks(forge, name).hooks.map(({ url }) => url))
    await waitUntil(() => found().every((urls) => urls.length > 0), {
      timeout: 60_000,
      describe: () => `${names.filter((_, n) => found()[n]?.length === 0)} have webhooks; the log says:\n${aicr.log}`
    })
    expect(found()).toEqual(names.map(() => [address]))
  },
  60_000 + kills * 20_000
)

it("a new repository gets its webhook within a minute", async () => {
  const host = await startService()
  const { aicr, forge } = host
  Object.assign(getHooks(forge, "team/one"), { mayList: true, mayWrite: true })
  await waitUntil(() => getHooks(forge, "team/one").hooks.length > 0, {
    timeout: 30_000,
    describe: () => `the first repository has a webhook; the log says:\n${aicr.log}`
  })
  await forge.createRepository("team/new")
  Object.assign(getHooks(forge, "team/new"), { mayList: true, mayWrite: true })
  const started = performance.now()
  await waitUntil(() => getHooks(forge, "team/new").hooks.length > 0, {
    timeout: 90_000,
    describe: () => `the new repository has a webhook; the log says:\n${aicr.log}`
  })
  expect((performance.now() - started) / 1000).toBeLessThan(65)
  const [hook] = getHooks(forge, "team/new").hooks
  expect(hook).toMatchObject({ url: address, isActive: true, secret: forge.secret, contentType: "json" })
  expect(aicr.log).not.toContain(forge.secret)
}, 180_000)
