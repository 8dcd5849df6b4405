/** Webhooks of an organisation with 2,000 repositories: how long their creation takes at a host that takes 100 ms for each request. */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { stringify } from "yaml"
import { AicrProcess } from "../../harness/AicrProcess.ts"
import { makeHostTrigger, startFakeForge } from "../../harness/FakeForge.ts"
import { getHooks } from "../../harness/FakeHooks.ts"
import { freePort } from "../../harness/FreePort.ts"
import { waitUntil } from "../../harness/Wait.ts"

/** Repositories of an organisation that gets webhooks, and the time in milliseconds that the host takes for each request. */
const inventory = { repositories: 2000, millis: 100 }

/** Measures the time until each repository has its webhook, from the start of the process. Each repository takes two requests of the host. */
export const measureInventory = async (): Promise<Record<string, number>> => {
  const directory = await mkdtemp(join(tmpdir(), "aicr-bench-inventory-"))
  await using parts = new AsyncDisposableStack()
  parts.defer(() => rm(directory, { recursive: true, force: true }))
  const forge = await startFakeForge("gitea")
  parts.defer(forge.stop)
  const port = await freePort()
  const configFile = join(directory, "config.yaml")
  const document = {
    server: { port, hostname: "127.0.0.1", base_url: "https://aicr.test" },
    triggers: [
      { ...makeHostTrigger("gitea", forge.url), inventory: { hooks: "create" }, catch_up: { every_seconds: 0 } }
    ],
    workspaces: { instances: { all: { match: [{ source: { repo_ref: { glob: "many/*" } } }] } } },
    storage: { database: { sqlite: { path: "aicr.db" } }, object: { filesystem: { root: "objects" } } }
  }
  await writeFile(configFile, stringify(document))
  const first = await forge.createRepository("many/r0")
  // The service reads no content of the others.
  for (let n = 1; n < inventory.repositories; n++) {
    const fullName = `many/r${n}`
    forge.state.repositories.set(fullName, { ...first, id: first.id + n, name: `r${n}`, fullName })
  }
  const lists = [...forge.state.repositories.values()].map(({ fullName }) =>
    Object.assign(getHooks(forge, fullName), { mayList: true, mayWrite: true })
  )
  forge.intercept(() => ({ kind: "slow", millis: inventory.millis }))
  const env = { TEST_TOKEN: forge.token, TEST_SECRET: forge.secret }
  const aicr = parts.use(new AicrProcess({ configFile, url: `http://127.0.0.1:${port}`, env }))
  const start = performance.now()
  await aicr.start()
  await waitUntil(() => lists.every(({ hooks }) => hooks.length > 0), {
    timeout: 900_000,
    describe: () => `${lists.filter(({ hooks }) => hooks.length === 0).length} repositories wait for a webhook`
  })
  return {
    repositories_2000_s: Number(((performance.now() - start) / 1000).toFixed(1)),
    repositories_2000_doubled: lists.filter(({ hooks }) => hooks.length > 1).length,
    repositories_2000_requests: forge.requests.length
  }
}
