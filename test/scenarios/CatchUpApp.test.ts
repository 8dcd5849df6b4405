/**
 * Deliveries to a GitHub App fail while the service is down. After its start GitHub sends those again that start what no list shows: here
 * pull requests that were opened again, whose heads were reviewed before.
 */
import { generateKeyPairSync } from "node:crypto"
import { expect, it, onTestFinished } from "vitest"
import type { DemoEvent } from "../../demo/DemoForgeDialect.ts"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { DownHost } from "../harness/DownHost.ts"
import { getAppLog, logAttempt } from "../harness/FakeGithubApp.ts"
import { waitUntil } from "../harness/Wait.ts"

const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" })

/** Logs a delivery that the service does not get, and returns its GUID. */
const fail = ({ forge }: DownHost, pull: DemoPull, action: Extract<DemoEvent, { readonly kind: "pull" }>["action"]) => {
  const delivery = forge.delivery({ kind: "pull", pull, action, sender: forge.user("dana") })
  logAttempt(forge, delivery, 0, pull.repository.id)
  return delivery.id
}

it("GitHub sends failed deliveries again, each once, also to a service that was killed", async () => {
  const host = await DownHost.start("github", {
    trigger: { token_env: undefined, app: { app_id: 12345, private_key_env: "TEST_KEY" } },
    env: { TEST_KEY: key.toString() }
  })
  onTestFinished(() => host[Symbol.asyncDispose]())
  const { aicr, forge } = host
  const login = "aicr[bot]"
  forge.renameSelf(login)
  const pulls = [await host.open("first"), await host.open("second")]
  for (const pull of pulls) await forge.notify(pull, "opened")
  await host.waitForReviews(pulls)
  const [first, second] = pulls
  if (first === undefined || second === undefined) throw new Error("two pull requests")
  logAttempt(forge, forge.delivery({ kind: "pull", pull: first, action: "opened", sender: forge.user("dana") }), 202, 1)
  await aicr.stop()

  // The list of pull requests shows this one: its delivery is not needed.
  const opened = await host.open("opened")
  fail(host, opened, "opened")
  const other = await forge.createRepository("team/other")
  await forge.push("team/other", { branch: "main", message: "Start", files: { "a.ts": "1\n" } })
  await forge.push("team/other", { branch: "b", from: "main", message: "b", files: { "b.ts": "1\n" } })
  fail(host, await forge.createPull(other.fullName, { title: "Other", headBranch: "b" }), "reopened")
  const reopened = pulls.map((pull) => fail(host, pull, "reopened"))

  // Killed before the response to the first request to send again.
  let killed: Promise<unknown> | undefined
  forge.intercept(({ method, path }) => {
    if (killed !== undefined || method !== "POST" || !path.endsWith("/attempts")) return undefined
    killed = aicr.kill()
    return { kind: "lost" }
  })
  aicr.spawn()
  await waitUntil(() => killed !== undefined, { timeout: 60_000, describe: () => aicr.log })
  await killed
  await waitUntil(() => getAppLog(forge).attempts.some(({ isRepeated }) => isRepeated), {
    describe: () => "the delivery was sent to the dead service"
  })
  forge.intercept(() => undefined)
  await aicr.start()
  await waitUntil(() => getAppLog(forge).repeated.length === 2 && host.isReviewed(opened), {
    timeout: 60_000,
    describe: () => JSON.stringify(getAppLog(forge).repeated) + aicr.log
  })
  await waitUntil(() => getAppLog(forge).attempts.at(-1)?.status === 202, { describe: () => aicr.log })
  expect(getAppLog(forge).repeated.toSorted()).toEqual(reopened.toSorted())
  // A further search, of another process, sends nothing again.
  await aicr.stop()
  const lists = () => forge.requests.filter(({ path }) => path === "/app/hook/deliveries").length
  const before = lists()
  await aicr.start()
  await waitUntil(() => lists() > before, { timeout: 60_000, describe: () => aicr.log })
  await aicr.stop()
  expect(getAppLog(forge).repeated).toHaveLength(2)
  expect([...host.runs()].map(([head]) => head).toSorted()).toEqual(
    [...pulls, opened].map(({ head }) => head).toSorted()
  )
  forge.expectContract()
}, 240_000)
