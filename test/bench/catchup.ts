/**
 * Changes that are opened while the service is down: how many of them are found and reviewed after its start, how often, how soon the first
 * one is, and what a search of a quiet host costs. Webhooks of an organisation with 2,000 repositories: how long their creation takes. The service is the real process, the host the fake one of Gitea.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { stringify } from "yaml"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { AicrProcess } from "../harness/AicrProcess.ts"
import { makeHostTrigger, startFakeForge } from "../harness/FakeForge.ts"
import { review, startFakeModel } from "../harness/FakeModel.ts"
import { freePort } from "../harness/FreePort.ts"
import { waitUntil } from "../harness/Wait.ts"
import { measureInventory } from "./catchup/Inventory.ts"
import { printFigures } from "./PrintFigures.ts"
import type { Goals } from "./PrintFigures.ts"

const repositories = Array.from({ length: 20 }, (_, index) => `team/r${index}`)
const pullsEach = 3

const writeConfig = async (file: string, host: string, model: string, port: number): Promise<void> => {
  const instances = Object.fromEntries(
    repositories.map((repo, index) => [`r${index}`, { source_repo: { trigger: "host", repo } }])
  )
  const providers = [{ id: "fake", kind: "openai_compatible", base_url: `${model}/v1`, api_key: "k" }]
  const document = {
    server: { port, hostname: "127.0.0.1" },
    // Searches of a quiet host are counted soon.
    triggers: [{ ...makeHostTrigger("gitea", host), catch_up: { every_seconds: 15 } }],
    workspaces: { instances },
    llm: { providers, model_chain: { default: [{ provider: "fake", model: "fake" }] } },
    agent: { default: "native-llm" },
    storage: { database: { sqlite: { path: "aicr.db" } }, object: { filesystem: { root: "objects" } } }
  }
  await writeFile(file, stringify(document))
}

/** Final statuses of the service on the head of a pull request. */
const countReviews = ({ head, repository }: DemoPull): number =>
  (repository.statuses.get(head) ?? []).filter(({ state }) => state === "success").length

const measure = async (): Promise<Record<string, number>> => {
  const directory = await mkdtemp(join(tmpdir(), "aicr-bench-catchup-"))
  await using parts = new AsyncDisposableStack()
  parts.defer(() => rm(directory, { recursive: true, force: true }))
  const forge = await startFakeForge("gitea")
  parts.defer(forge.stop)
  const model = parts.use(await startFakeModel(review([], "No problems.")))
  const port = await freePort()
  const configFile = join(directory, "config.yaml")
  await writeConfig(configFile, forge.url, model.url, port)
  for (const repository of repositories) {
    await forge.createRepository(repository)
    await forge.push(repository, { branch: "main", message: "Start", files: { "a.ts": "export const a = 1\n" } })
  }
  const env = { TEST_TOKEN: forge.token, TEST_SECRET: forge.secret }
  const aicr = parts.use(new AicrProcess({ configFile, url: `http://127.0.0.1:${port}`, env }))
  const searches = () => forge.requests.filter(({ path }) => path.endsWith("/repos/issues/search")).length
  const searched = (count: number) =>
    waitUntil(() => searches() >= count, { timeout: 120_000, describe: () => `search ${count}` })

  await aicr.start()
  await searched(1)
  await aicr.stop()
  const pulls: Array<DemoPull> = []
  for (const repository of repositories)
    for (let n = 0; n < pullsEach; n++) {
      const branch = `change-${n}`
      const files = { "b.ts": `export const b = ${n}\n` }
      await forge.push(repository, { branch, from: "main", message: branch, files })
      pulls.push(await forge.createPull(repository, { title: branch, headBranch: branch }))
    }
  const start = performance.now()
  await aicr.start()
  const done = (count: number) =>
    waitUntil(() => pulls.filter((pull) => countReviews(pull) > 0).length >= count, {
      timeout: 300_000,
      describe: () => `${count} of ${pulls.length} are reviewed`
    })
  await done(1)
  const first = (performance.now() - start) / 1000
  await done(pulls.length)
  const all = (performance.now() - start) / 1000
  await searched(searches() + 1)
  const [before, requestsBefore] = [searches(), forge.requests.length]
  await searched(before + 2)
  const quiet = (forge.requests.length - requestsBefore) / 2 / repositories.length
  return {
    found_share: pulls.filter((pull) => countReviews(pull) > 0).length / pulls.length,
    doubled: pulls.filter((pull) => countReviews(pull) > 1).length,
    requests_per_quiet_repository: Number(quiet.toFixed(3)),
    first_review_after_start_s: Number(first.toFixed(1)),
    all_reviews_after_start_s: Number(all.toFixed(1))
  }
}

const goals: Goals = {
  found_share: "1",
  doubled: "0",
  requests_per_quiet_repository: "at most 1",
  first_review_after_start_s: "at most 30",
  all_reviews_after_start_s: "at most 300",
  repositories_2000_s: "at most 600",
  repositories_2000_doubled: "0",
  repositories_2000_requests: "about 4000"
}

export const catchup = {
  name: "catchup",
  summary: "changes of 20 repositories that are opened while the service is down, and webhooks of 2,000 repositories",
  run: async (_options: { readonly json: boolean }): Promise<Record<string, number>> => {
    const result = { ...(await measure()), ...(await measureInventory()) }
    printFigures(result, goals)
    return result
  }
}
