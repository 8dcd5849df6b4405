import { describe, expect, it } from "vitest"
import { isServerAddress } from "../../src/domain/PerforcePort.ts"

describe("a P4PORT is the address of a server:", () => {
  it.each([
    "1666",
    "p4.example:1666",
    "ssl:p4.example:1666",
    "tcp4:10.0.0.1:1666",
    "ssl64:[2001:db8::1]:1666",
    "tcp:rsh:1666"
  ])("%s", (port) => {
    expect(isServerAddress(port)).toBe(true)
  })
})

describe("a P4PORT is refused, because it may start a program or is no address:", () => {
  it.each([
    "rsh:touch /tmp/owned",
    "RSH:touch /tmp/owned",
    "jsh:touch /tmp/owned",
    "ssl:rsh:touch /tmp/owned",
    " rsh:p4d -i",
    "rsh:1666",
    "JSH:1666",
    "\u000brsh:1666",
    "1666\nrsh:touch x",
    "host:1666;touch x",
    "$(touch x):1666",
    "host",
    "",
    "@host:1666"
  ])("%j", (port) => {
    expect(isServerAddress(port)).toBe(false)
  })
})
