/** The minimum of a webhook receiver: read, check the HMAC, parse, respond. Stores nothing. */
import { createHmac, timingSafeEqual } from "node:crypto"
import { createServer } from "node:http"
import { path, secret } from "./Agreement.ts"
import { report } from "./Measured.ts"

const server = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const body = Buffer.concat(chunks)
    const expected = createHmac("sha256", secret).update(body).digest()
    const header = request.headers["x-hub-signature-256"]
    const claimed = Buffer.from(typeof header === "string" ? header.slice(7) : "", "hex")
    if (request.url !== path || claimed.length !== expected.length || !timingSafeEqual(claimed, expected)) {
      response.writeHead(401).end()
      return
    }
    const payload: { readonly action?: string } = JSON.parse(body.toString())
    const answer = JSON.stringify({ accepted: true, action: payload.action })
    response.writeHead(202, { "content-type": "application/json", "content-length": Buffer.byteLength(answer) })
    response.end(answer)
  })
})

server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  if (typeof address === "object" && address !== null) report(address.port)
})
