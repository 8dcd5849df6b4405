// probot with its own server and a handler that does nothing. Not TypeScript: its package is only there when the benchmark installed it.
import { generateKeyPairSync } from "node:crypto"
import { Probot, Server } from "probot"
import { path, secret } from "./Agreement.ts"
import { report } from "./Measured.ts"

const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { type: "pkcs1", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" }
})

const server = new Server({
  Probot: Probot.defaults({ appId: 1, privateKey, secret, logLevel: "warn" }),
  webhookPath: path,
  port: 0,
  host: "127.0.0.1"
})
await server.load((app) => {
  app.on("pull_request.synchronize", () => undefined)
})
const listening = await server.start()
report(listening.address().port)
