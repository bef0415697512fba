import { LogLevel } from '@nostr-relay/common';
import { NostrRelay } from '@nostr-relay/core';
import { EventRepositorySqlite } from '@nostr-relay/event-repository-sqlite';
import Database from 'better-sqlite3';
import { WebSocketServer } from 'ws';

/**
 * A relay of another house, to measure beside: `@nostr-relay/core` over its SQLite repository, as its manual puts them
 * together, with the durability this one has. Its argument is the file; it prints the port it listens on.
 */
const database = new Database(process.argv[2] ?? ':memory:');
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
const repository = new EventRepositorySqlite(database);
await repository.init();
const relay = new NostrRelay(repository, { logLevel: LogLevel.ERROR });
const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
server.on('connection', (socket) => {
  relay.handleConnection(socket);
  socket.on('message', (data) => void relay.handleMessage(socket, JSON.parse(String(data))));
  socket.on('close', () => relay.handleDisconnect(socket));
  socket.on('error', () => undefined);
});
server.on('listening', () => console.log(JSON.stringify(server.address())));
