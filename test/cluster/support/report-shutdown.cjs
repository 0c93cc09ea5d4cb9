// Reports the signal that the shutdown hooks of a module receive, on standard error.
require('reflect-metadata');
const { OrdersService } = require('../../../dist/src/orders/orders.service.js');
OrdersService.prototype.onApplicationShutdown = (signal) => process.stderr.write(`${signal}\n`);
