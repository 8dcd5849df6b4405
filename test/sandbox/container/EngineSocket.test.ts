/** The socket of a container engine. */
import { expect, it } from "vitest"
import { findEngineSocket } from "../../../src/sandbox/container/EngineSocket.ts"

const all = ["/run/podman/podman.sock", "/var/run/docker.sock", "/u/podman/podman.sock", "/u/docker.sock", "/own.sock"]

it.each([
  ["podman", {}, all, "/run/podman/podman.sock"],
  ["podman", { XDG_RUNTIME_DIR: "/u" }, all, "/u/podman/podman.sock"],
  ["podman", { XDG_RUNTIME_DIR: "/u" }, ["/run/podman/podman.sock"], "/run/podman/podman.sock"],
  ["podman", { CONTAINER_HOST: "unix:///own.sock", DOCKER_HOST: "unix:///x" }, all, "/own.sock"],
  ["podman", { CONTAINER_HOST: "" }, all, "/run/podman/podman.sock"],
  ["docker", {}, all, "/var/run/docker.sock"],
  ["docker", { XDG_RUNTIME_DIR: "/u" }, all, "/u/docker.sock"],
  ["docker", { DOCKER_HOST: "/own.sock" }, all, "/own.sock"],
  ["docker_socket", { XDG_RUNTIME_DIR: "/u" }, all, "/var/run/docker.sock"]
] as const)("of %s with %j", (kind, env, paths, socket) =>
  expect(findEngineSocket(kind, env, (path) => paths.some((one) => one === path))).toBe(socket)
)

it.each([
  ["podman", { CONTAINER_HOST: "ssh://host" }, "invalid", /^CONTAINER_HOST is not a unix socket.*unix:\/\/\/path/],
  ["docker", { DOCKER_HOST: "tcp://a:2375" }, "invalid", /^DOCKER_HOST is not/],
  ["docker", { DOCKER_HOST: "unix:///own.sock" }, "failed", /no socket at \/own\.sock; .*or correct DOCKER_HOST/],
  ["podman", { XDG_RUNTIME_DIR: "/u" }, "missing", /no socket at \/u\/podman\/podman\.sock or \/run\/podman/],
  ["docker_socket", {}, "missing", /mount the socket of the host's docker/]
] as const)("of %s does not exist with %j", (kind, env, reason, message) =>
  expect(findEngineSocket(kind, env, () => false)).toMatchObject({ reason, message: expect.stringMatching(message) })
)
