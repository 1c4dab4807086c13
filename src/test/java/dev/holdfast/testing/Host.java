package dev.holdfast.testing;

import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;

/**
 * A place where programs of a test run: this machine, or a host of {@link NetworkNamespaces}.
 *
 * @param address IPv4 address on which its programs listen
 * @param entry words before each command line that runs a program there. They start no process of
 *     their own
 */
public record Host(String address, List<String> entry) {

  /** This machine, on the loopback interface. */
  public static final Host LOCAL = new Host("127.0.0.1", List.of());

  /** Copies the words. */
  public Host {
    entry = List.copyOf(entry);
  }

  /** The command line that runs a program there. */
  public List<String> command(List<String> program) {
    List<String> command = new ArrayList<>(entry);
    command.addAll(program);
    return command;
  }

  /** The URL of a path of a program that listens there. */
  public URI url(int port, String path) {
    return URI.create("http://" + address + ":" + port + path);
  }

  InetAddress inetAddress() {
    try {
      return InetAddress.getByName(address);
    } catch (UnknownHostException never) {
      throw new IllegalStateException(address, never);
    }
  }
}
