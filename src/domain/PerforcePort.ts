/** Checks addresses of Perforce servers (P4PORT). The client starts a program for other forms (`rsh:`, `jsh:`), so only those of servers are listed. */

const server = /^(?:(?:tcp|ssl)(?:4|6|46|64)?:)?(?:(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):)?\d{1,5}$/
/** `rsh:1666` starts the program 1666, although it looks like a host of that name. */
const startsProgram = /^(?:rsh|jsh):/i

/** Returns whether a P4PORT is the address of a server, which the client connects to without starting a program. */
export const isServerAddress = (port: string): boolean => server.test(port) && !startsProgram.test(port)
