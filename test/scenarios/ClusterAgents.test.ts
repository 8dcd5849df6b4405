/** Coding agents at two nodes of a cluster: an objection is decided once although the node that decides dies, and a revocation holds on both. */
import { expect, it } from "vitest"
import { adminEnv, AdminSession } from "../harness/AdminSession.ts"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { honest, renderContent } from "../harness/Installation.ts"
import { callMcp } from "../harness/McpCalls.ts"

it("an objection at two nodes is decided once, also if the node that decides dies", async () => {
  await using at = await ClusterInstallation.make({ repositories: 1, review: { verification: "off" }, env: adminEnv })
  await Promise.all([
    at.start("front", "ingress,actors"),
    at.start("one", "dashboard"),
    at.start("two", "dashboard"),
    at.start("work", "executor,publisher")
  ])
  const pull = await at.open("cart", at.repositories[0] ?? "")
  await at.deliver(pull)
  await at.reviewed([pull], 60_000)
  await at.settled()
  const admin = await AdminSession.open(at.node("one").url)
  const created = await admin.post("/tokens", { name: "laptop", scopes: ["read", "dispute"] })
  const { id, token } = created.body
  const quote = 'export const marked = "marker-cart-end"'

  // The host of these tests has no contents of files.
  const content = Buffer.from(renderContent("cart", 1)).toString("base64")
  at.host.onRequest = ({ method, path }) =>
    method === "GET" && path.endsWith("/contents/src/cart.ts")
      ? { kind: "answer", answer: { status: 200, body: { path: "src/cart.ts", encoding: "base64", content } } }
      : undefined
  const calls: Array<string> = []
  at.model.script(async (request) => {
    if (request.text.includes("Write the reply to the last comment")) {
      calls.push("reply")
      if (calls.length === 1) {
        await at.node("work").kill()
        void at.start("again", "executor,publisher")
        await new Promise(() => {})
      }
      return { calls: [{ name: "reply", input: { outcome: "withdrawn", text: "You are right.", quote } }] }
    }
    if (!request.text.includes('"verdicts"')) return honest(request)
    calls.push("confirm")
    return {
      calls: [{ name: "verdicts", input: { verdicts: [{ number: 1, verdict: "refute", reason: "It is fine." }] } }]
    }
  })
  const named = { repository: pull.repository.fullName, number: pull.number }
  const dispute = async (node: string) => {
    const input = { ...named, finding: 1, reason: "It is intended.", path: "src/cart.ts", quote, seconds: 45 }
    for (let attempt = 0; attempt < 6; attempt++) {
      const { result, text } = await callMcp(at.node(node).url, token, "dispute", input)
      if (result["decided"] === true) return result
      if (result["decided"] !== false) throw new Error(text)
    }
    throw new Error(`not decided\n${at.logs(40)}`)
  }
  const decisions = await Promise.all(["one", "two", "one", "two"].map(dispute))
  expect(decisions).toEqual(
    decisions.map(() => ({ finding: 1, decided: true, outcome: "withdrawn", text: "You are right." }))
  )
  await at.settled()
  expect(await at.query("SELECT status FROM runs WHERE target_key LIKE '%:comment:%'")).toEqual([
    { status: "succeeded" }
  ])
  expect(await at.query("SELECT event FROM events WHERE event = 'dispute'")).toHaveLength(1)
  expect(await at.query("SELECT status FROM publications WHERE kind = 'Withdraw'")).toEqual([{ status: "sent" }])
  expect(calls).toEqual(["reply", "reply", "confirm"])

  expect((await callMcp(at.node("two").url, token, "status", named)).status).toBe(200)

  // A role is the same at both nodes, and so is the end of its token.
  const viewer = await admin.post("/tokens", { name: "viewer", scopes: [], role: "viewer" })
  const requestAs = async (node: string, method: string, path: string) => {
    const headers = { authorization: `Bearer ${String(viewer.body["token"])}` }
    return (await fetch(`${at.node(node).url}/api/admin${path}`, { method, headers })).status
  }
  for (const node of ["one", "two"]) {
    expect(await requestAs(node, "GET", "/runs")).toBe(200)
    for (const path of ["/queue/pause", "/config/changesets", "/tokens", "/sessions/revoke"])
      expect(await requestAs(node, "POST", path)).toBe(403)
  }
  await admin.post(`/tokens/${String(viewer.body["id"])}/revoke`)
  for (const node of ["one", "two"]) expect(await requestAs(node, "GET", "/runs")).toBe(401)

  await admin.post(`/tokens/${String(id)}/revoke`)
  for (const node of ["one", "two"]) expect((await callMcp(at.node(node).url, token, "status", named)).status).toBe(401)
}, 300_000)
