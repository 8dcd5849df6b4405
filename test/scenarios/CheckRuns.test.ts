/** A GitHub App shows verdicts as check runs. A process that is killed at a write of one leaves no check open, and one for each head. */
import { generateKeyPairSync } from "node:crypto"
import { expect, it, onTestFinished } from "vitest"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { DownHost } from "../harness/DownHost.ts"
import { getChecks, installationToken, repeatCheck } from "../harness/FakeChecks.ts"
import { review } from "../harness/FakeModel.ts"
import { waitUntil } from "../harness/Wait.ts"

const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" })

const show = (pull: DemoPull): ReadonlyArray<string> =>
  getChecks(pull.repository)
    .filter(({ head }) => head === pull.head)
    .map(({ conclusion, isReopened, status }) => `${conclusion ?? status}${isReopened ? " reopened" : ""}`)

const isEnded = (pull: DemoPull) => show(pull).at(-1) === "success"

const startApp = async (): Promise<DownHost> => {
  const host = await DownHost.start("github", {
    trigger: { token_env: undefined, app: { app_id: 12345, private_key_env: "TEST_KEY" } },
    env: { TEST_KEY: key.toString() },
    mayWriteChecks: true
  })
  onTestFinished(() => host[Symbol.asyncDispose]())
  host.forge.renameSelf("aicr[bot]")
  return host
}

it("each head has one completed check, whichever write the process is killed at", async () => {
  const host = await startApp()
  const { aicr, forge } = host

  const first = await host.open("first")
  const before = forge.requests.length
  await forge.notify(first, "opened")
  await waitUntil(() => isEnded(first), { timeout: 120_000, describe: () => aicr.log })
  const writes = forge.requests.slice(before).filter(({ path }) => /check-runs|statuses/.test(path))
  expect(writes.map(({ method }) => method)).toEqual(["POST", "PATCH"])

  // The button, twice: a completed check is followed by a new one.
  for (const count of [2, 3]) {
    expect(await repeatCheck(forge, first, "dana")).toBe(202)
    await waitUntil(() => show(first).length === count && isEnded(first), {
      timeout: 120_000,
      describe: () => aicr.log
    })
    expect(show(first)).toEqual(Array.from({ length: count }, () => "success"))
  }

  // Before and after the host creates the check, and before and after it completes it.
  for (const [method, kind] of [
    ["POST", "cut"],
    ["POST", "lost"],
    ["PATCH", "cut"],
    ["PATCH", "lost"]
  ] as const) {
    const pull = await host.open(`${method}-${kind}`.toLowerCase())
    let killed: Promise<unknown> | undefined
    forge.intercept((request) => {
      if (killed !== undefined || request.method !== method || !request.path.includes("/check-runs")) return undefined
      killed = aicr.kill()
      return { kind }
    })
    await forge.notify(pull, "opened")
    await waitUntil(() => killed !== undefined, { timeout: 120_000, describe: () => aicr.log })
    await killed
    await aicr.start()
    await waitUntil(() => isEnded(pull), { timeout: 120_000, describe: () => `${show(pull)}\n${aicr.log}` })
    expect(show(pull)).toEqual(["success"])
  }
  await aicr.stop()
  expect(getChecks(first.repository)).toHaveLength(7)
  expect(first.repository.statuses.size).toBe(0)
  forge.expectContract()
}, 480_000)

it("an app that loses its installation while the model works claims nothing, and ends its check when it is installed again", async () => {
  const host = await startApp()
  const { aicr, forge } = host
  const lost = await host.open("lost")
  let isInstalled = true
  let refused = 0
  forge.intercept(({ headers, path }) => {
    const isApp = headers["authorization"] === `Bearer ${installationToken}`
    if (isInstalled || !(isApp || path.endsWith("/installation") || path.endsWith("/access_tokens"))) return undefined
    refused++
    const answer = isApp
      ? { status: 401, body: { message: "Bad credentials" } }
      : { status: 404, body: { message: "Not Found" } }
    return { kind: "answer", answer }
  })
  host.model.script(() => {
    isInstalled = false
    return review([], "No problems.")
  })
  await forge.notify(lost, "opened")
  await waitUntil(() => refused > 4, { timeout: 120_000, describe: () => aicr.log })
  expect(show(lost)).toEqual(["in_progress"])
  expect(host.runs().get(lost.head)?.at(-1)).not.toBe("succeeded")
  isInstalled = true
  await waitUntil(() => isEnded(lost), { timeout: 120_000, describe: () => `${show(lost)}\n${aicr.log}` })
  expect(show(lost)).toEqual(["success"])
  expect(lost.repository.statuses.size).toBe(0)
  forge.expectContract()
}, 480_000)
