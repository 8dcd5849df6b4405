/**
 * The real process on a disk that takes no writes for a while. A delivery that could not be stored is refused, so that
 * the host sends it again; `/readyz` names the store; when the disk is available again, everything continues without a
 * restart. One of three reasons by default, and each of them with AICR_TEST_BACKENDS=all.
 */
import { execFileSync } from "node:child_process"
import { readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { toFilePath, honest, Installation, markedLine } from "../harness/Installation.ts"
import { takeTurn } from "../harness/Samples.ts"
import { SmallDisk } from "../harness/SmallDisk.ts"
import { waitUntil } from "../harness/Wait.ts"

interface Disk {
  readonly refuse: () => Promise<void> | void
  readonly heal: () => Promise<void> | void
  readonly [Symbol.dispose]: () => void
}

const files = (folder: string, names: RegExp) =>
  readdirSync(folder)
    .filter((name) => names.test(name))
    .map((name) => join(folder, name))

/**
 * Makes files immutable, even for processes that have them open; needs root and a file system with the attribute. The
 * `-shm` file is excluded, because it is memory of its processes, and the kernel ends a process that writes to it.
 */
const immutable = (at: Installation, names: RegExp): Disk => {
  const set = (flag: "+i" | "-i"): void => {
    execFileSync("chattr", [flag, ...files(at.directory, names)])
  }
  return { refuse: () => set("+i"), heal: () => set("-i"), [Symbol.dispose]: () => set("-i") }
}

/** A small disk of its own for both databases. */
const small = (at: Installation): Disk => {
  const disk = new SmallDisk(join(at.directory, "disk"), 8)
  for (const name of ["aicr.db", "queue.db"]) symlinkSync(join(disk.folder, name), join(at.directory, name))
  return { refuse: () => disk.fill(), heal: () => disk.free(), [Symbol.dispose]: () => disk[Symbol.dispose]() }
}

const withoutRoom = (at: Installation): Disk => ({
  refuse: () => at.aicr.setFilesMayGrow(false),
  heal: () => at.aicr.setFilesMayGrow(true),
  [Symbol.dispose]: () => {}
})

const canBeMade = (command: string, args: ReadonlyArray<string>): boolean => {
  try {
    execFileSync(command, [...args], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}
const isRoot = process.getuid?.() === 0
const canFreeze =
  isRoot && canBeMade("sh", ["-c", "f=$(mktemp); chattr +i $f && chattr -i $f; r=$?; rm -f $f; exit $r"])

const ready = async (at: Installation) => {
  const answer = await fetch(`${at.aicr.url}/readyz`)
  return { status: answer.status, notReady: Object(await answer.json()).not_ready }
}
const readyAgain = (at: Installation) =>
  waitUntil(async () => (await ready(at)).status === 200, { describe: () => `ready; log:\n${at.aicr.log}` })
const once = (name: string, head: string) => ({
  reviews: [head],
  comments: [`${toFilePath(name)}:${markedLine}`],
  summaries: 1
})

/** The same delivery, as the host sends it again, with the response to it. */
const opened = (at: Installation, pull: Awaited<ReturnType<Installation["open"]>>) => {
  const delivery = at.forge.delivery({ kind: "pull", pull, action: "opened", sender: at.forge.user("dana") })
  return async () => {
    const response = await fetch(`${at.aicr.url}/webhooks/gitea`, {
      method: "POST",
      headers: delivery.headers,
      body: delivery.body
    })
    return {
      status: response.status,
      retryAfter: response.headers.get("retry-after"),
      body: Object(await response.json())
    }
  }
}

const reasons = [
  ["files may not grow", true, withoutRoom],
  ["files are read-only", canFreeze, (at: Installation) => immutable(at, /^(aicr|queue)\.db(-wal)?$/)],
  ["the disk is full", SmallDisk.isPossible, small]
] as const
const possible = reasons.filter(([, can]) => can)

describe.each(takeTurn("AICR_TEST_BACKENDS", possible, 1))("%s", (_, __, diskOf) => {
  it("a delivery is refused, health reports it, and everything is reviewed once when the disk has space again", async () => {
    await using at = await Installation.make({ queue: "sqlite" })
    using disk = diskOf(at)
    at.aicr.useOwnProcess()
    await at.aicr.start()
    // One review is in progress when it happens, and the reply of its model comes while nothing can be stored.
    const first = await at.open("first")
    const reached = Promise.withResolvers<void>()
    const refused = Promise.withResolvers<void>()
    at.model.script(async (request) => {
      reached.resolve()
      await refused.promise
      return honest(request)
    })
    await at.forge.notify(first, "opened")
    await reached.promise

    const second = await at.open("second")
    const deliver = opened(at, second)
    await disk.refuse()
    const response = await deliver()
    expect(response).toMatchObject({ status: 503, body: { accepted: false, reason: "store_unavailable" } })
    expect(Number(response.retryAfter)).toBeGreaterThan(0)
    await waitUntil(async () => (await ready(at)).notReady?.includes("store"), { describe: () => at.aicr.log })
    refused.resolve()
    await waitUntil(() => /could not be|not stored|disk/i.test(at.aicr.log), { describe: () => at.aicr.log })

    await disk.heal()
    expect(await deliver()).toMatchObject({ status: 202, body: { accepted: true } })
    await readyAgain(at)
    await at.reviewed(first, second)
    await at.settled()
    expect(at.posted(first)).toEqual(once("first", first.head))
    expect(at.posted(second)).toEqual(once("second", second.head))
  })
})

it.skipIf(!canFreeze)(
  "only the queue takes no writes: deliveries are stored and queued when it does again",
  async () => {
    await using at = await Installation.make({ queue: "sqlite" })
    using disk = immutable(at, /^queue\.db(-wal)?$/)
    at.aicr.useOwnProcess()
    await at.aicr.start()
    await disk.refuse()
    const pull = await at.open("change")
    expect(await opened(at, pull)()).toMatchObject({ status: 202, body: { accepted: true } })
    expect(await waitUntil(async () => (await ready(at)).notReady, { describe: () => at.aicr.log })).toEqual(["queue"])
    await disk.heal()
    await at.reviewed(pull)
    await at.settled()
    expect(at.posted(pull)).toEqual(once("change", pull.head))
    await readyAgain(at)
  }
)

it("logs each warning about a store of objects without room once, not for each of several reviews", async () => {
  await using at = await Installation.make({ queue: "sqlite" })
  at.aicr.useOwnProcess()
  await at.aicr.start()
  // A file in place of the folder: every write into it fails.
  rmSync(join(at.directory, "objects"), { recursive: true })
  writeFileSync(join(at.directory, "objects"), "")
  for (const name of ["one", "two"]) {
    const pull = await at.open(name)
    await at.forge.notify(pull, "opened")
    await at.reviewed(pull)
  }
  const count = (warning: string) =>
    at.aicr.log.split("\n").filter((line) => line.includes(`"msg":"${warning}"`)).length
  expect(["model call not recorded", "fence key of a run not stored, that of the process is used"].map(count)).toEqual([
    1, 1
  ])
  expect(count("record of a run not stored")).toBeLessThanOrEqual(1)
}, 120_000)
