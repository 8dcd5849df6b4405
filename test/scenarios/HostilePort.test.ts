/** The real process while strangers hold its port: what is signed is reviewed, and nothing of theirs is left. */
import { connect } from "node:net"
import type { Socket } from "node:net"
import { assert, it } from "vitest"
import { Installation } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

/** More than there may be connections, from more addresses than one client's limit would stop. */
const strangers = 2100
const addresses = 100

/** A connection of its own: one that is kept may be closed for another client while it idles. */
const once = { headers: { connection: "close" } }

const halves = [
  "POST /webhooks/gitea HTTP/1.1\r\nhost: x\r\n",
  `POST /webhooks/gitea HTTP/1.1\r\nhost: x\r\nx-gitea-signature: ${"0".repeat(64)}\r\ncontent-length: 1000\r\n\r\n{`,
  ""
]

it("2 100 clients that send half a request, and neither read nor close", async () => {
  await using installation = await Installation.make({ queue: "memory" })
  const { aicr } = installation
  aicr.useOwnProcess()
  await aicr.start()
  await waitUntil(async () => (await fetch(`${aicr.url}/healthz`, once)).ok, {
    describe: () => "the process responds"
  })
  const before = await aicr.openSockets()
  const sockets: Array<Socket> = []
  try {
    for (let at = 0; at < strangers; at++) {
      const socket = connect({
        port: Number(new URL(aicr.url).port),
        host: "127.0.0.1",
        localAddress: `127.0.4.${1 + (at % addresses)}`
      })
      sockets.push(socket.on("error", () => undefined).pause())
      await new Promise((resume) => socket.once("connect", resume).once("close", resume))
      socket.write(halves[at % halves.length] ?? "")
    }
    assert.isAbove(await aicr.openSockets(), before + 1000)
    for (const path of ["healthz", "readyz", "metrics"]) {
      assert.strictEqual((await fetch(`${aicr.url}/${path}`, once)).status, 200, path)
    }
    const pull = await installation.open("signed")
    const sender = installation.forge.user("dana")
    const delivery = installation.forge.delivery({ kind: "pull", pull, action: "opened", sender })
    assert.strictEqual((await installation.forge.send(delivery)).status, 202)
    await installation.reviewed(pull)
    // Their requests time out; they keep their side open all the same.
    await waitUntil(async () => (await aicr.openSockets()) <= before + 10, {
      timeout: 45_000,
      describe: () => "the process has closed what it had of them"
    })
    assert.strictEqual((await fetch(`${aicr.url}/healthz`, once)).status, 200)
  } finally {
    for (const socket of sockets) socket.destroy()
  }
})
