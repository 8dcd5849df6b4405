/**
 * One installation under all faults together: hosts that fail a part of the requests, a process that is killed and restarted, a
 * configuration that is rewritten during the work. In the end every change has exactly what one review writes, and is paid for
 * once.
 */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { stringify } from "yaml"
import type { Fault } from "../../demo/DemoForge.ts"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import {
  makeDocument,
  toFilePath,
  honest,
  Installation,
  markedLine,
  namesIn,
  listStates
} from "../harness/Installation.ts"
import { makeChance } from "../../eval/Chance.ts"
import { waitUntil } from "../harness/Wait.ts"

export interface SoakOptions {
  readonly changes: number
  readonly seed: number
  /** Share of the host's requests that fail, in [0, 1). */
  readonly faults: number
  readonly killEveryMillis: number
  /** Most kills: a slow machine ends no review between them. Default: no limit. */
  readonly maxKills?: number
  readonly reloadEveryMillis: number
  /** Duration over which the changes are opened, in bursts. 0: one immediately after the other. */
  readonly spreadMillis: number
  /** Time limit for the last changes, from the last delivery. */
  readonly timeoutMillis: number
}

export interface SoakResult {
  readonly changes: number
  readonly kills: number
  readonly reloads: number
  readonly faults: number
  readonly requests: number
  readonly seconds: number
  /** Changes that are lost, duplicated, misplaced or paid for twice; empty if all is well. */
  readonly wrong: ReadonlyArray<string>
}

/** Changes opened together: some are under way and others wait when the process is killed. */
const burst = 10

/** Returns the time of a change after the start. */
const openedAfter = (index: number, { changes, spreadMillis }: SoakOptions): number =>
  (Math.floor(index / burst) * burst * spreadMillis) / changes

const repositoriesOf = (changes: number): ReadonlyArray<string> =>
  Array.from({ length: Math.min(20, Math.max(2, Math.ceil(changes / 5))) }, (_, index) => `team/r${index}`)

/** A broken gateway, a host that is out of order, a connection that breaks before the work is done, or after it. */
const faultOf = (random: () => number): Fault => {
  const kinds: ReadonlyArray<Fault> = [
    { kind: "answer", answer: { status: 502, body: "bad gateway" } },
    { kind: "answer", answer: { status: 503, body: { message: "out of order" } } },
    { kind: "cut" },
    { kind: "lost" }
  ]
  return kinds[Math.floor(random() * kinds.length)] ?? { kind: "cut" }
}

/** Describes what is wrong with one change. */
const judge = (at: Installation, pull: DemoPull, name: string, allowed: number): ReadonlyArray<string> => {
  const { comments, summaries } = at.posted(pull)
  const wrong: Array<string> = []
  const here = comments.filter((comment) => comment === `${toFilePath(name)}:${markedLine}`)
  if (comments.length !== here.length) wrong.push(`misplaced: ${comments.filter((one) => !here.includes(one)).join()}`)
  if (here.length === 0) wrong.push("lost: the comment at its line")
  if (here.length > 1) wrong.push(`doubled: ${here.length} comments at its line`)
  if (summaries === 0) wrong.push("lost: the summary")
  if (summaries > 1) wrong.push(`doubled: ${summaries} summaries`)
  if (listStates(pull).at(-1) !== "success") wrong.push(`status: ${listStates(pull).at(-1) ?? "none"}`)
  const paid = at.countModelCalls(name)
  if (paid > allowed) wrong.push(`paid ${paid} times, ${allowed} allowed`)
  return wrong.map((what) => `${pull.repository.fullName}#${pull.number} ${name}: ${what}`)
}

/** The document of a configuration, rewritten: the trigger has another name and another token, and workspaces are added. */
const rewritten = (at: Installation, repositories: ReadonlyArray<string>, port: number, version: number) => {
  const base = makeDocument({ queue: "sqlite", concurrency: 4 }, repositories, {
    directory: at.directory,
    port,
    forge: at.forge,
    model: at.model
  })
  const name = (index: number) => (version % 2 === 0 ? `host-${index}` : `renamed-${index}`)
  // A token in reserve for each repository: rotated with every other version.
  const token = (index: number) => `TEST_TOKEN_${version % 4 < 2 ? index : index + repositories.length}`
  const added = Array.from({ length: version }, (_, extra) => [
    `added-${extra}`,
    { source_repo: { trigger: name(0), repo: `team/added-${extra}` } }
  ])
  return {
    ...base,
    triggers: base.triggers.map((trigger, index) => ({ ...trigger, name: name(index), token_env: token(index) })),
    workspaces: {
      ...base.workspaces,
      instances: {
        ...Object.fromEntries(
          repositories.map((repo, index) => [repo.replace("/", "-"), { source_repo: { trigger: name(index), repo } }])
        ),
        ...Object.fromEntries(added)
      }
    }
  }
}

const unfinished = (at: Installation): number => {
  const database = new DatabaseSync(join(at.directory, "aicr.db"), { readOnly: true })
  try {
    const [row] = database
      .prepare(
        `SELECT (SELECT count(*) FROM events WHERE work IS NOT NULL AND outcome IS NULL)
              + (SELECT count(*) FROM publications WHERE status IN ('pending', 'sending', 'unknown')) AS open`
      )
      .all()
    return Number(row?.["open"])
  } finally {
    database.close()
  }
}

const pause = () => new Promise((resume) => setTimeout(resume, 100))

export const soak = async (options: SoakOptions, say: (line: string) => void): Promise<SoakResult> => {
  const began = performance.now()
  const random = makeChance(options.seed)
  const repositories = repositoriesOf(options.changes)
  await using at = await Installation.make({
    queue: "sqlite",
    repositories,
    spareTokens: repositories.length,
    concurrency: 4,
    env: { SVC_LOG_LEVEL: "info" }
  })
  const port = Number(new URL(at.aicr.url).port)
  let [kills, reloads, faults, requests] = [0, 0, 0, 0]
  let isCalm = false
  at.host.onRequest = () => {
    requests += 1
    if (isCalm || random() >= options.faults) return undefined
    faults += 1
    return faultOf(random)
  }
  /** Kills that may have cut the analysis of a change: each allows one more call. */
  const cut = new Map<string, number>()
  const asked = new Set<string>()
  const write = (version: number) =>
    writeFile(join(at.directory, "config.yaml"), stringify(rewritten(at, repositories, port, version)))
  await at.aicr.start()

  const pulls: Array<{ readonly pull: DemoPull; readonly name: string }> = []
  let nextKill = performance.now() + options.killEveryMillis
  let nextReload = performance.now() + options.reloadEveryMillis
  const disturb = async (): Promise<void> => {
    if (performance.now() >= nextReload) {
      reloads += 1
      await write(reloads)
      nextReload = performance.now() + options.reloadEveryMillis
      say(`configuration ${reloads} written after ${pulls.length} changes`)
    }
    if (performance.now() >= nextKill && kills < (options.maxKills ?? Infinity)) {
      kills += 1
      await at.aicr.kill()
      // What the killed process requested of the model arrives before this request, and counts as cut.
      await (await fetch(`${at.model.url}/models`)).text()
      for (const { pull, name } of pulls) {
        const { comments, summaries } = at.posted(pull)
        if (asked.has(name) && comments.length + summaries === 0) cut.set(name, (cut.get(name) ?? 0) + 1)
      }
      await at.aicr.start()
      nextKill = performance.now() + options.killEveryMillis
      say(`killed ${kills} times after ${pulls.length} changes`)
    }
  }
  at.model.script((request) => {
    for (const name of namesIn(request)) asked.add(name)
    return honest(request)
  })
  const started = performance.now()
  for (let n = 0; n < options.changes; n++) {
    const name = `change-${n}`
    while (performance.now() < started + openedAfter(n, options)) {
      await disturb()
      await pause()
    }
    const pull = await at.open(name, repositories[n % repositories.length])
    pulls.push({ pull, name })
    await disturb()
    // A host repeats a delivery that was not accepted; its id stays the same.
    const delivery = at.forge.delivery({ kind: "pull", pull, action: "opened", sender: at.forge.user("dana") })
    await waitUntil(
      async () => {
        const response = await at.forge.send(delivery).catch(() => undefined)
        return response?.status === 202 && Object(response.body).accepted === true
      },
      { timeout: 60_000, describe: () => `${name} is accepted; log:\n${at.aicr.log.slice(-4000)}` }
    )
  }
  const isDone = () => pulls.every(({ pull }) => listStates(pull).at(-1) === "success") && unfinished(at) === 0
  const deadline = performance.now() + options.timeoutMillis
  const isMuchDone = () => pulls.filter(({ pull }) => listStates(pull).at(-1) === "success").length / pulls.length
  while (!isDone() && performance.now() < deadline) {
    // Faults end when most changes are complete, so that the rest shows whether it recovers.
    isCalm = isMuchDone() > 0.9
    if (!isCalm) await disturb()
    await pause()
  }
  const wrong = pulls.flatMap(({ pull, name }) => judge(at, pull, name, 1 + (cut.get(name) ?? 0)))
  const open = unfinished(at)
  if (open > 0) wrong.push(`${open} deliveries or writes are not finished`)
  if (wrong.length > 0) say(at.aicr.log.slice(-20_000))
  const seconds = Math.round((performance.now() - began) / 1000)
  return { changes: pulls.length, kills, reloads, faults, requests, seconds, wrong }
}
