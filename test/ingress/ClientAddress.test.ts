import { describe, expect, it } from "vitest"
import { clientAddresses, clientKey } from "../../src/ingress/ClientAddress.ts"

describe("client address", () => {
  it.each<readonly [string, Parameters<typeof clientAddresses>[0], string, string | undefined, string]>([
    ["of the socket", false, "203.0.113.1", undefined, "203.0.113.1"],
    ["a header nobody is trusted with", false, "203.0.113.1", "1.1.1.1", "203.0.113.1"],
    ["IPv4 in IPv6", false, "::ffff:203.0.113.1", undefined, "203.0.113.1"],
    ["one trusted proxy", "loopback", "127.0.0.1", "1.1.1.1", "1.1.1.1"],
    ["what a client claims before the proxy", "loopback", "::1", "9.9.9.9, 1.1.1.1", "1.1.1.1"],
    ["two trusted proxies", ["loopback", "10.0.0.0/8"], "::ffff:127.0.0.1", "9.9.9.9, 1.1.1.1, 10.1.2.3", "1.1.1.1"],
    ["a proxy that is not trusted", "uniquelocal", "192.0.2.1", "1.1.1.1", "192.0.2.1"],
    ["a single address", ["192.0.2.1"], "192.0.2.1", "1.1.1.1", "1.1.1.1"],
    ["no address in the header", "loopback", "127.0.0.1", "1.1.1.1, unknown", "127.0.0.1"],
    ["ports", "loopback", "127.0.0.1", "1.1.1.1:5000", "1.1.1.1"],
    ["IPv6 with a port", "loopback", "::1", "[2001:db8::1]:443", "2001:db8::1"],
    ["a long zone", "loopback", "::1", `[2001:db8::1%${"a".repeat(200)}]:443`, "2001:db8::1"],
    ["a zone of IPv4 in IPv6", "loopback", "::1", "::ffff:1.1.1.1%a", "1.1.1.1"],
    ["exactly the last hop, whoever sends it", true, "203.0.113.1", "7.7.7.7, 1.1.1.1", "1.1.1.1"],
    ["the last hop alone", true, "203.0.113.1", "1.1.1.1", "1.1.1.1"],
    ["no hop although a proxy is trusted", true, "203.0.113.1", undefined, "203.0.113.1"],
    ["a last hop that is not an address", true, "203.0.113.1", "1.1.1.1, x", "203.0.113.1"],
    [
      "more hops than any chain has",
      "loopback",
      "127.0.0.1",
      `9.9.9.9, ${Array(40).fill("127.0.0.1").join()}`,
      "127.0.0.1"
    ],
    ["linklocal", "linklocal", "fe80::1", "1.1.1.1", "1.1.1.1"],
    ["no socket any more", "loopback", "", "1.1.1.1", "unknown"]
  ])("%s", (_, trust, socket, forwarded, expected) => {
    expect(clientAddresses(trust).clientOf(socket, forwarded)).toBe(expected)
  })

  it.each([
    ["203.0.113.1", "203.0.113.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0db8:0001:0002::9", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["::ffff:203.0.113.1", "203.0.113.1"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["unknown", "unknown"]
  ])("%s counts as %s", (address, key) => {
    expect(clientKey(address)).toBe(key)
  })
})
