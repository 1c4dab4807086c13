// Preloaded into each server (NODE_OPTIONS): refuses all connections but those to this machine.
const dgram = require('node:dgram');
const dns = require('node:dns');
const net = require('node:net');

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;

function refused(host) {
  return Object.assign(new Error(`connect ECONNREFUSED ${host}`), { code: 'ECONNREFUSED' });
}

const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  // net.connect() passes its normalized arguments as one array.
  const [options, port] = Array.isArray(args[0]) ? args[0] : args;
  const local = typeof options === 'object' ? options.path : Number.isNaN(Number(options));
  const host = typeof options === 'object' ? options.host : port;
  if (local || typeof host !== 'string' || LOOPBACK.test(host)) {
    return connect.apply(this, args);
  }
  process.nextTick(() => this.destroy(refused(host)));
  return this;
};

for (const method of ['lookup', 'resolve', 'resolve4', 'resolve6', 'resolveSrv', 'resolveTxt']) {
  const ask = dns[method];
  dns[method] = (host, ...rest) =>
    LOOPBACK.test(host) ? ask(host, ...rest) : process.nextTick(rest.at(-1), refused(host));
  const promise = dns.promises[method];
  dns.promises[method] = async (host, ...rest) => {
    if (!LOOPBACK.test(host)) throw refused(host);
    return promise.call(dns.promises, host, ...rest);
  };
}

dgram.Socket.prototype.send = function () {
  throw refused('UDP');
};
