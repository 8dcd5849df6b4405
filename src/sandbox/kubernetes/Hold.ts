/**
 * Main program of the container in which the sidecar runs. Arguments: the folder of the sockets, and how long it waits for the sidecar.
 * It ends with the sidecar, which ends with its connection to the service.
 */
import { createServer } from "node:net"

const [folder = "", millis = ""] = process.argv.slice(2)

if (folder !== "") {
  // The main program of a container gets no signal that it does not expect.
  process.on("SIGTERM", () => process.exit(0))
  const timer = setTimeout(() => process.exit(1), Number(millis))
  createServer((sidecar) => {
    clearTimeout(timer)
    sidecar.on("error", () => {}).on("close", () => process.exit(0))
  }).listen(`${folder}/hold.sock`)
}
