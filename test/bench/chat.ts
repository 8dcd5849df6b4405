/**
 * Commands from chat: the real process with records and queue in SQLite, and a fake Feishu. First 200 callbacks a second, whose
 * commands are executed at the same time; then `status` commands one after the other, from the callback to the reply.
 */
import { performance } from "node:perf_hooks"
import { Pool } from "undici"
import { callbackSecrets, chatDocument, chatEnv, deliverFeishu, feishuMessage } from "../harness/ChatPeople.ts"
import { encryptFeishu, feishuHeaders } from "../../demo/DemoChat.ts"
import { FakeChatPlatform, platformSecrets } from "../harness/FakeChatPlatform.ts"
import { Installation } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"
import type { Benchmark } from "./main.ts"

const perSecond = 200
const seconds = 15
const statusCommands = 60
/** A person may send 30 commands a minute. */
const people = Array.from({ length: 10 }, (_, index) => `ou_p${index}`)

const percentile = (values: ReadonlyArray<number>, part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0
const round = (millis: number): number => Math.round(millis * 10) / 10

/** People without a binding, each of whom exceeds the limits of commands and of refusals. */
const loadPeople = 40
/** The platform reuses its connections. */
const connections = 64

/** Sends callbacks at a fixed rate, whether or not earlier ones have a response. Returns milliseconds and statuses. */
const load = async (url: string) => {
  const { origin, pathname: path } = new URL(url)
  const pool = new Pool(origin, { connections })
  const post = async (payload: string): Promise<number> => {
    const body = JSON.stringify({ encrypt: encryptFeishu(callbackSecrets.encryptKey, payload) })
    const headers = feishuHeaders(callbackSecrets.encryptKey, body, Math.floor(Date.now() / 1000))
    const response = await pool.request({ path, method: "POST", headers, body })
    await response.body.dump()
    return response.statusCode
  }
  const results: Array<Promise<{ readonly millis: number; readonly status: number }>> = []
  const start = performance.now()
  for (let sent = 0; sent < perSecond * seconds; sent++) {
    const due = start + (sent * 1000) / perSecond
    const wait = due - performance.now()
    if (wait > 0) await new Promise((resume) => setTimeout(resume, wait))
    const payload = feishuMessage(`load-${sent}`, "chat-id", { from: `ou_load${sent % loadPeople}` })
    results.push(
      post(payload).then(
        (status) => ({ millis: performance.now() - due, status }),
        () => ({ millis: performance.now() - due, status: 0 })
      )
    )
  }
  const all = await Promise.all(results)
  await pool.close()
  return all
}

const measureStatus = async (platform: FakeChatPlatform, url: string) => {
  const times: Array<number> = []
  for (let index = 0; index < statusCommands; index++) {
    const id = `status-${index}`
    const from = people[index % people.length] ?? ""
    const start = performance.now()
    await deliverFeishu(url, feishuMessage(id, "status 0", { from }))
    while (platform.repliesTo(id).length === 0) {
      if (performance.now() - start > 10_000) throw new Error(`no reply to ${id}`)
      await new Promise((resume) => setTimeout(resume, 1))
    }
    times.push(performance.now() - start)
  }
  return times
}

const run = async (): Promise<Record<string, number>> => {
  await using platform = await FakeChatPlatform.start()
  const document = chatDocument(platform.url, { app: { workspace: "team-one" } })
  const { lark } = document.command_bindings
  const actors = people.map((id) => ({ type: "feishu_open_id", id }))
  await using installation = await Installation.make({
    queue: "sqlite",
    im: { ...document, command_bindings: { ...document.command_bindings, lark: { ...lark, actors } } },
    env: { ...chatEnv, FEISHU_SECRET: platformSecrets.feishu, WECOM_SECRET: platformSecrets.wecom }
  })
  await installation.aicr.start()
  const url = `${installation.aicr.url}/callbacks/im/lark`
  // The first command loads what only commands need.
  await deliverFeishu(url, feishuMessage("warm", "projects", { from: people[0] ?? "" }))
  await waitUntil(() => platform.repliesTo("warm").length > 0, { describe: () => "a first reply" })
  const acknowledged = await load(url)
  const refused = acknowledged.filter(({ status }) => status !== 200).length
  const metrics = `${installation.aicr.url}/metrics`
  await waitUntil(async () => /aicr_chat_open_requests 0$/m.test(await (await fetch(metrics)).text()), {
    timeout: 300_000,
    describe: () => "the end of all requests"
  })
  const times = await measureStatus(platform, url)
  const millis = acknowledged.map((one) => one.millis)
  const result = {
    callbacks_per_second: perSecond,
    callbacks: acknowledged.length,
    refused,
    ack_p50_ms: round(percentile(millis, 0.5)),
    ack_p99_ms: round(percentile(millis, 0.99)),
    command_to_reply_p50_ms: round(percentile(times, 0.5)),
    command_to_reply_p99_ms: round(percentile(times, 0.99))
  }
  for (const [name, value] of Object.entries(result)) process.stdout.write(`${name.padEnd(28)} ${value}\n`)
  return result
}

export const chat: Benchmark = {
  name: "chat",
  summary: "commands from chat: acknowledgements at 200 callbacks a second, and the time from a command to its reply",
  run
}
